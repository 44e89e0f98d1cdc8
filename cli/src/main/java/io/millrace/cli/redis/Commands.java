package io.millrace.cli.redis;

import io.millrace.cli.redis.Keyspace.Entry;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Executes the commands. Used under the keyspace's lock. */
final class Commands {
    static final String WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
    private static final String NOT_A_NUMBER = "ERR value is not an integer or out of range";
    static final String SYNTAX = "ERR syntax error";
    private static final System.Logger LOG = System.getLogger("io.millrace");

    /** First words of HTTP lines that are not commands. */
    private static final String[] HTTP = {
        "POST", "HOST:", "PUT", "HEAD", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"
    };

    private static final byte[] PONG = Reply.ascii("+PONG\r\n");
    private static final long MAX_EXPIRY = TimeUnit.DAYS.toNanos(36_500);

    /** A command is wrong; the reply says why, and the next command runs. */
    static final class CommandError extends Exception {
        private static final long serialVersionUID = 1;

        CommandError(String message) {
            super(message, null, false, false);
        }
    }

    private final Keyspace keys;
    private final Channels channels;
    private final Server server;
    private final Collections collections;
    private long executed;
    private boolean toldOfHttp;
    private long toldOfHttpAt;

    /** What {@code INFO} reports. */
    interface Server {
        int connections();

        long connectionsOpened();
    }

    Commands(Keyspace keys, Channels channels, Server server) {
        this.keys = keys;
        this.collections = new Collections(keys);
        this.channels = channels;
        this.server = server;
    }

    /** Runs the command that was read, and writes the reply. */
    void execute(Session session, CommandParser words, Reply reply) {
        executed++;
        int before = reply.size();
        try {
            Command command = Command.find(words.bytes(), words.offset(0), words.length(0));
            if (command == null && isHttp(words)) {
                refuseHttp(session);
                return;
            }
            if (command == null) {
                throw new CommandError("ERR unknown command '" + shortened(words.text(0)) + "'");
            }
            if (!command.accepts(words.count())) {
                throw new CommandError("ERR wrong number of arguments for '" + lower(command) + "' command");
            }
            if (session.subscriptions() > 0 && !allowedWhileSubscribed(command)) {
                throw new CommandError("ERR Can't execute '" + lower(command)
                        + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this"
                        + " context");
            }
            run(command, session, words, reply);
        } catch (CommandError e) {
            reply.truncate(before);
            reply.error(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Returns whether this is HTTP from a browser. A web page can make a browser send a POST here, and lines of its
     * body would be commands. GET is a command itself; but it is followed by {@code Host:}, which is recognized.
     */
    private static boolean isHttp(CommandParser words) {
        for (String word : HTTP) {
            if (words.is(0, word)) {
                return true;
            }
        }
        return false;
    }

    /**
     * As in Redis: sends no reply, and ignores what follows. Logged at most once a minute, so that the log cannot be
     * flooded.
     */
    private void refuseHttp(Session session) {
        session.end();
        long now = System.nanoTime();
        if (!toldOfHttp || now - toldOfHttpAt > TimeUnit.MINUTES.toNanos(1)) {
            toldOfHttp = true;
            toldOfHttpAt = now;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Possible SECURITY ATTACK detected: HTTP instead of commands, perhaps by a web page in somebody''s"
                            + " browser; closing {0}",
                    session.peer());
        }
    }

    private static boolean allowedWhileSubscribed(Command command) {
        return switch (command) {
            case PING, QUIT, SUBSCRIBE, UNSUBSCRIBE -> true;
            default -> false;
        };
    }

    private static String lower(Command command) {
        return command.name().toLowerCase(Locale.ROOT);
    }

    private static String shortened(String text) {
        return text.length() <= 128 ? text : text.substring(0, 128);
    }

    private void run(Command command, Session session, CommandParser words, Reply reply) throws CommandError {
        switch (command) {
            case PING -> ping(session, words, reply);
            case ECHO -> reply.bulk(words.bytes(), words.offset(1), words.length(1));
            case SELECT -> select(words, reply);
            case QUIT -> {
                reply.ok();
                session.end();
            }
            case INFO -> reply.bulk(info());
            case CONFIG -> config(words, reply);
            case COMMAND -> command(words, reply);
            case CLIENT -> client(session, words, reply);
            case DBSIZE -> reply.integer(keys.size());
            case FLUSHALL -> {
                keys.clear();
                reply.ok();
            }
            case SET -> set(words, reply);
            case GET -> string(keys.find(words, 1), reply);
            case MSET -> mset(words, reply);
            case MGET -> mget(words, reply);
            case DEL, EXISTS -> count(words, command == Command.DEL, reply);
            case TYPE -> type(words, reply);
            case INCR -> add(words, 1, reply);
            case DECR -> add(words, -1, reply);
            case INCRBY -> add(words, number(words, 2), reply);
            case DECRBY -> add(words, negated(number(words, 2)), reply);
            case EXPIRE -> expire(words, TimeUnit.SECONDS, reply);
            case PEXPIRE -> expire(words, TimeUnit.MILLISECONDS, reply);
            case TTL -> left(words, TimeUnit.SECONDS, reply);
            case PTTL -> left(words, TimeUnit.MILLISECONDS, reply);
            case PERSIST -> persist(words, reply);
            case LPUSH, RPUSH -> collections.push(words, command == Command.LPUSH, reply);
            case LPOP, RPOP -> collections.pop(words, command == Command.LPOP, reply);
            case LLEN -> collections.llen(words, reply);
            case LRANGE -> collections.range(words, reply);
            case SADD -> collections.sadd(words, reply);
            case SREM -> collections.srem(words, reply);
            case SISMEMBER -> collections.sismember(words, reply);
            case SCARD -> collections.scard(words, reply);
            case SMEMBERS -> collections.smembers(words, reply);
            case HSET -> collections.hset(words, reply);
            case HGET -> collections.hget(words, reply);
            case HDEL -> collections.hdel(words, reply);
            case HLEN -> collections.hlen(words, reply);
            case HGETALL -> collections.hgetall(words, reply);
            case SUBSCRIBE -> channels.subscribe(session, words, reply);
            case UNSUBSCRIBE -> channels.unsubscribe(session, words, reply);
            case PUBLISH -> reply.integer(channels.publish(words));
        }
    }

    // ---- The connection and the server ----

    private static void ping(Session session, CommandParser words, Reply reply) throws CommandError {
        if (words.count() > 2) {
            throw new CommandError("ERR wrong number of arguments for 'ping' command");
        }
        if (session.subscriptions() > 0) {
            reply.array(2);
            reply.bulk("pong");
            if (words.count() == 1) {
                reply.bulk("");
                return;
            }
        }
        if (words.count() == 1) {
            reply.raw(PONG);
        } else {
            reply.bulk(words.bytes(), words.offset(1), words.length(1));
        }
    }

    private static void select(CommandParser words, Reply reply) throws CommandError {
        if (number(words, 1) != 0) {
            throw new CommandError("ERR DB index is out of range");
        }
        reply.ok();
    }

    private String info() {
        return String.join(
                "\r\n",
                "# Server",
                "server_name:millrace",
                "redis_version:7.0.0",
                "redis_mode:standalone",
                "process_id:" + ProcessHandle.current().pid(),
                "",
                "# Clients",
                "connected_clients:" + server.connections(),
                "pubsub_channels:" + channels.size(),
                "",
                "# Stats",
                "total_connections_received:" + server.connectionsOpened(),
                "total_commands_processed:" + executed,
                "",
                "# Keyspace",
                "db0:keys=" + keys.size() + ",expires=" + keys.expiring() + ",avg_ttl=0",
                "");
    }

    /** What redis-benchmark and some clients ask for. */
    private static void config(CommandParser words, Reply reply) throws CommandError {
        if (!words.is(1, "GET") || words.count() < 3) {
            throw new CommandError("ERR there is only CONFIG GET here");
        }
        String[][] settings = {{"save", ""}, {"appendonly", "no"}, {"maxmemory", "0"}, {"databases", "1"}};
        String[][] asked = Arrays.stream(settings)
                .filter(setting -> {
                    for (int i = 2; i < words.count(); i++) {
                        if (words.is(i, "*") || words.is(i, setting[0].toUpperCase(Locale.ROOT))) {
                            return true;
                        }
                    }
                    return false;
                })
                .toArray(String[][]::new);
        reply.array(2 * asked.length);
        for (String[] setting : asked) {
            reply.bulk(setting[0]);
            reply.bulk(setting[1]);
        }
    }

    private static void command(CommandParser words, Reply reply) {
        if (words.count() == 1) {
            reply.array(Command.values().length);
            for (Command each : Command.values()) {
                reply.array(6);
                reply.bulk(lower(each));
                reply.integer(each.arity);
                reply.array(0);
                reply.integer(0);
                reply.integer(0);
                reply.integer(0);
            }
        } else if (words.is(1, "COUNT")) {
            reply.integer(Command.values().length);
        } else {
            reply.array(0);
        }
    }

    /** What client libraries send when they connect. */
    private static void client(Session session, CommandParser words, Reply reply) throws CommandError {
        if (words.is(1, "SETNAME") || words.is(1, "SETINFO")) {
            reply.ok();
        } else if (words.is(1, "ID")) {
            reply.integer(session.id());
        } else {
            throw new CommandError("ERR there are only CLIENT ID, SETNAME and SETINFO here");
        }
    }

    // ---- Strings ----

    static long number(CommandParser words, int word) throws CommandError {
        long number = words.number(word);
        if (number == Numbers.NONE) {
            throw new CommandError(NOT_A_NUMBER);
        }
        return number;
    }

    private static long negated(long number) {
        return -number; // the only number without an opposite is not accepted: see Numbers.NONE
    }

    private static void string(@Nullable Entry entry, Reply reply) throws CommandError {
        if (entry == null) {
            reply.nil();
        } else if (entry.value instanceof byte[] value) {
            reply.bulk(value);
        } else {
            throw new CommandError(WRONG_TYPE);
        }
    }

    private void set(CommandParser words, Reply reply) throws CommandError {
        if (words.count() == 3) {
            keys.set(words, 1, 2, false);
            reply.ok();
            return;
        }
        boolean ifAbsent = false;
        boolean ifPresent = false;
        boolean keep = false;
        long expiry = 0;
        for (int i = 3; i < words.count(); i++) {
            if (words.is(i, "NX")) {
                ifAbsent = true;
            } else if (words.is(i, "XX")) {
                ifPresent = true;
            } else if (words.is(i, "KEEPTTL")) {
                keep = true;
            } else if ((words.is(i, "EX") || words.is(i, "PX")) && expiry == 0 && i + 1 < words.count()) {
                expiry = expiry(
                        number(words, i + 1), words.is(i, "EX") ? TimeUnit.SECONDS : TimeUnit.MILLISECONDS, "set");
                if (expiry <= 0) {
                    throw invalidExpiry("set");
                }
                i++;
            } else {
                throw new CommandError(SYNTAX);
            }
        }
        if ((ifAbsent && ifPresent) || (keep && expiry > 0)) {
            throw new CommandError(SYNTAX);
        }
        if ((ifAbsent || ifPresent) && (keys.find(words, 1) != null) != ifPresent) {
            reply.nil();
            return;
        }
        keys.set(words, 1, 2, keep);
        Entry entry = keys.find(words, 1);
        if (expiry > 0 && entry != null) {
            keys.expire(entry, expiry);
        }
        reply.ok();
    }

    private void mset(CommandParser words, Reply reply) throws CommandError {
        if (words.count() % 2 == 0) {
            throw new CommandError("ERR wrong number of arguments for 'mset' command");
        }
        for (int i = 1; i < words.count(); i += 2) {
            keys.set(words, i, i + 1, false);
        }
        reply.ok();
    }

    private void mget(CommandParser words, Reply reply) {
        reply.array(words.count() - 1);
        for (int i = 1; i < words.count(); i++) {
            Entry entry = keys.find(words, i);
            if (entry != null && entry.value instanceof byte[] value) {
                reply.bulk(value);
            } else {
                reply.nil();
            }
        }
    }

    private void count(CommandParser words, boolean remove, Reply reply) {
        int count = 0;
        for (int i = 1; i < words.count(); i++) {
            Entry entry = keys.find(words, i);
            if (entry != null) {
                count++;
                if (remove) {
                    keys.remove(entry);
                }
            }
        }
        reply.integer(count);
    }

    private void type(CommandParser words, Reply reply) {
        Entry entry = keys.find(words, 1);
        String name;
        if (entry == null) {
            name = "none";
        } else if (entry.value instanceof byte[]) {
            name = "string";
        } else if (entry.value instanceof ArrayDeque) {
            name = "list";
        } else {
            name = entry.value instanceof HashSet ? "set" : "hash";
        }
        reply.raw(Reply.ascii("+" + name + "\r\n"));
    }

    private void add(CommandParser words, long amount, Reply reply) throws CommandError {
        Entry entry = keys.find(words, 1);
        if (entry == null) {
            keys.add(words, 1, digits(amount));
            reply.integer(amount);
            return;
        }
        if (!(entry.value instanceof byte[] present)) {
            throw new CommandError(WRONG_TYPE);
        }
        long before = Numbers.parse(present, 0, present.length);
        if (before == Numbers.NONE) {
            throw new CommandError(NOT_A_NUMBER);
        }
        long sum = before + amount;
        if (((before ^ sum) & (amount ^ sum)) < 0 || sum == Numbers.NONE) {
            throw new CommandError("ERR increment or decrement would overflow");
        }
        if (Numbers.length(sum) == present.length) {
            Numbers.write(sum, present, 0);
        } else {
            entry.value = digits(sum);
        }
        reply.integer(sum);
    }

    private static byte[] digits(long number) {
        byte[] digits = new byte[Numbers.length(number)];
        Numbers.write(number, digits, 0);
        return digits;
    }

    // ---- Expiring ----

    private static CommandError invalidExpiry(String command) {
        return new CommandError("ERR invalid expire time in '" + command + "' command");
    }

    private static long expiry(long amount, TimeUnit unit, String command) throws CommandError {
        long nanos = unit.toNanos(amount);
        if (nanos > MAX_EXPIRY) {
            throw invalidExpiry(command);
        }
        return nanos;
    }

    private void expire(CommandParser words, TimeUnit unit, Reply reply) throws CommandError {
        long nanos = expiry(number(words, 2), unit, unit == TimeUnit.SECONDS ? "expire" : "pexpire");
        Entry entry = keys.find(words, 1);
        if (entry == null) {
            reply.integer(0);
            return;
        }
        if (nanos <= 0) {
            keys.remove(entry);
        } else {
            keys.expire(entry, nanos);
        }
        reply.integer(1);
    }

    private void left(CommandParser words, TimeUnit unit, Reply reply) {
        Entry entry = keys.find(words, 1);
        if (entry == null) {
            reply.integer(-2);
        } else if (!entry.expires()) {
            reply.integer(-1);
        } else {
            long one = unit.toNanos(1);
            reply.integer((keys.left(entry) + one / 2) / one);
        }
    }

    private void persist(CommandParser words, Reply reply) {
        Entry entry = keys.find(words, 1);
        boolean expired = entry != null && entry.expires();
        if (entry != null) {
            keys.persist(entry);
        }
        reply.integer(expired ? 1 : 0);
    }
}
