package io.millrace.cli.redis;

import org.jspecify.annotations.Nullable;

/** The commands, and how many words each has, including the name: exactly or, if negative, at least. */
enum Command {
    PING(-1),
    ECHO(2),
    SELECT(2),
    QUIT(-1),
    INFO(-1),
    CONFIG(-2),
    COMMAND(-1),
    CLIENT(-2),
    DBSIZE(1),
    FLUSHALL(-1),
    SET(-3),
    GET(2),
    MSET(-3),
    MGET(-2),
    DEL(-2),
    EXISTS(-2),
    TYPE(2),
    INCR(2),
    DECR(2),
    INCRBY(3),
    DECRBY(3),
    EXPIRE(3),
    PEXPIRE(3),
    TTL(2),
    PTTL(2),
    PERSIST(2),
    LPUSH(-3),
    RPUSH(-3),
    LPOP(-2),
    RPOP(-2),
    LLEN(2),
    LRANGE(4),
    SADD(-3),
    SREM(-3),
    SISMEMBER(3),
    SCARD(2),
    SMEMBERS(2),
    HSET(-4),
    HGET(3),
    HDEL(-3),
    HLEN(2),
    HGETALL(2),
    SUBSCRIBE(-2),
    UNSUBSCRIBE(-1),
    PUBLISH(3);

    /**
     * A sparse table, by the first eight and the last eight letters of the name; any two names differ in at least one
     * of the two.
     */
    private static final int SLOTS = 256;

    private static final @Nullable Command[] TABLE = new Command[SLOTS];

    static {
        for (Command command : values()) {
            int slot = slot(command.head, command.tail);
            while (TABLE[slot] != null) {
                slot = (slot + 1) % SLOTS;
            }
            TABLE[slot] = command;
        }
    }

    final int arity;
    private final long head;
    private final long tail;

    Command(int arity) {
        this.arity = arity;
        byte[] name = Reply.ascii(name());
        this.head = letters(name, 0, Math.min(8, name.length));
        this.tail = letters(name, Math.min(8, name.length), name.length);
    }

    private static long letters(byte[] in, int from, int to) {
        long packed = 0;
        for (int i = from; i < to; i++) {
            packed = (packed << 8) | (CommandParser.upper(in[i]) & 0xFF);
        }
        return packed;
    }

    private static int slot(long head, long tail) {
        return (int) (((head + 31 * tail) * 0x9E3779B97F4A7C15L) >>> 56);
    }

    /** Returns the command with this name, in upper or lower case, or null. Allocates nothing. */
    static @Nullable Command find(byte[] in, int from, int length) {
        if (length == 0 || length > 16) {
            return null;
        }
        int middle = from + Math.min(8, length);
        long head = letters(in, from, middle);
        long tail = letters(in, middle, from + length);
        for (int slot = slot(head, tail); ; slot = (slot + 1) % SLOTS) {
            Command command = TABLE[slot];
            if (command == null || (command.head == head && command.tail == tail)) {
                return command;
            }
        }
    }

    boolean accepts(int words) {
        return arity >= 0 ? words == arity : words >= -arity;
    }
}
