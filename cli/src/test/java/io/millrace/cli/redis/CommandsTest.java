package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.SendResult;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A session from the inside: without sockets, and with a clock that stands. */
@DisplayName("A session of the redis application")
class CommandsTest {
    private static final String WRONG_TYPE = "-WRONGTYPE Operation against a key holding the wrong kind of value";

    private final ManualClock clock = new ManualClock();
    private final Reactors reactors = Reactors.builder()
            .reactors(1)
            .clock(clock)
            .withoutWatchdog()
            .name("commands")
            .open();
    private final Keyspace keys = new Keyspace(reactors);
    private final Channels channels = new Channels((to, message) -> {
        to.forEach(peer -> peer.send(message.duplicate()));
        return to.size();
    });
    private final Commands commands = new Commands(keys, channels, new Commands.Server() {
        @Override
        public int connections() {
            return 3;
        }

        @Override
        public long connectionsOpened() {
            return 5;
        }
    });
    private final Client client = new Client(7);

    @AfterEach
    void close() {
        assertThat(keys.lock.isLocked())
                .as("whatever happened, the lock is free")
                .isFalse();
        reactors.close();
    }

    /** What the other side sees, in order; replies are as they come, with | for the ends of lines. */
    private final class Client implements Peer {
        final long id;
        final CommandLimit limit =
                new CommandLimit(reactors, Duration.ofSeconds(3).toNanos(), this);
        final Session session = new Session(this, keys, commands, limit);
        final ByteArrayOutputStream sent = new ByteArrayOutputStream();
        final List<String> done = new ArrayList<>();
        SendResult answer = SendResult.QUEUED;
        long queued;
        boolean broken;

        Client(long id) {
            this.id = id;
        }

        void tell(String text) {
            session.onData(ByteBuffer.wrap(text.getBytes(ISO_8859_1)));
        }

        String ask(String line) {
            tell(line + "\r\n");
            return replies();
        }

        String replies() {
            String all = sent.toString(ISO_8859_1);
            sent.reset();
            return all.replace("\r\n", "|");
        }

        @Override
        public long id() {
            return id;
        }

        @Override
        public SendResult send(ByteBuffer data) {
            assertThat(data.hasRemaining()).as("something to send").isTrue();
            if (broken) {
                throw new IllegalStateException("as asked");
            }
            sent.write(data.array(), data.arrayOffset() + data.position(), data.remaining());
            return answer;
        }

        @Override
        public long queuedBytes() {
            return queued;
        }

        @Override
        public void pauseReads() {
            done.add("pause");
        }

        @Override
        public void resumeReads() {
            done.add("resume");
        }

        @Override
        public void close() {
            done.add("close");
        }

        @Override
        public void abort() {
            done.add("abort");
        }

        @Override
        public String toString() {
            return "number " + id;
        }
    }

    private void dialogue(String... lines) {
        for (int i = 0; i < lines.length; i += 2) {
            assertThat(client.ask(lines[i])).as(lines[i]).isEqualTo(lines[i + 1] + "|");
        }
    }

    // ---- What there is not ----

    @Test
    @DisplayName("says that a key is not there by the reply that its kind has for nothing")
    void nothingThere() {
        dialogue(
                "LLEN k", ":0",
                "SCARD k", ":0",
                "HLEN k", ":0",
                "SISMEMBER k x", ":0",
                "SREM k x", ":0",
                "HDEL k f", ":0",
                "SMEMBERS k", "*0",
                "HGETALL k", "*0",
                "HGET k f", "$-1",
                "RPOP k", "$-1",
                "RPOP k 1", "*-1",
                "PERSIST k", ":0",
                "EXPIRE k 1", ":0",
                "PTTL k", ":-2",
                "DBSIZE", ":0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET k",
                "INCR k",
                "LLEN k",
                "LPUSH k x",
                "LPOP k",
                "LRANGE k 0 1",
                "SADD k x",
                "SREM k x",
                "SCARD k",
                "SMEMBERS k",
                "SISMEMBER k x",
                "HSET k f v",
                "HGET k f",
                "HDEL k f",
                "HLEN k",
                "HGETALL k"
            })
    @DisplayName("refuses a command for another kind of value, and changes nothing")
    void wrongType(String command) {
        for (String[] kind : new String[][] {
            {"SET k v", "GET INCR", "+string|"},
            {"RPUSH k v", "LLEN LPUSH LPOP LRANGE", "+list|"},
            {"SADD k v", "SADD SREM SCARD SMEMBERS SISMEMBER", "+set|"},
            {"HSET k f v", "HSET HGET HDEL HLEN HGETALL", "+hash|"}
        }) {
            client.ask("FLUSHALL");
            client.ask(kind[0]);
            assertThat(client.ask("TYPE k")).isEqualTo(kind[2]);
            if (!List.of(kind[1].split(" ")).contains(command.split(" ")[0])) {
                assertThat(client.ask(command))
                        .as("%s after %s", command, kind[0])
                        .isEqualTo(WRONG_TYPE + "|");
                assertThat(client.ask("TYPE k")).isEqualTo(kind[2]);
            }
        }
    }

    // ---- Strings ----

    @Test
    @DisplayName("takes the options of SET once each, and none that contradict each other")
    void setOptions() {
        dialogue(
                "SET k v EX", "-ERR syntax error",
                "SET k v EX 1 PX 1", "-ERR syntax error",
                "SET k v KEEPTTL EX 10", "-ERR syntax error",
                "SET k v PX 0", "-ERR invalid expire time in 'set' command",
                "SET k v PX -1", "-ERR invalid expire time in 'set' command",
                "SET k v EX 3153600001", "-ERR invalid expire time in 'set' command",
                "EXISTS k", ":0",
                "SET k v EX 3153600000", "+OK",
                "TTL k", ":3153600000",
                "SET k v KEEPTTL", "+OK",
                "TTL k", ":3153600000",
                "SET k v XX PX 1500", "+OK",
                "PTTL k", ":1500",
                "SET k longer", "+OK",
                "PTTL k", ":-1",
                "GET k", "$6|longer",
                "MSET k 1", "+OK",
                "MSET k", "-ERR wrong number of arguments for 'mset' command",
                "MSET k 1 l", "-ERR wrong number of arguments for 'mset' command",
                "SET k v NX XX", "-ERR syntax error",
                "SET k v NX", "$-1",
                "SET none v XX", "$-1",
                "LPUSH l 1", ":1",
                "MGET k l", "*2|$1|1|$-1",
                "SET l v", "+OK",
                "GET l", "$1|v");
    }

    @Test
    @DisplayName("counts to the last number, and no further")
    void counts() {
        dialogue(
                "INCRBY n 5", ":5",
                "GET n", "$1|5",
                "INCRBY n x", "-ERR value is not an integer or out of range",
                "INCRBY n -6", ":-1",
                "DECRBY n -1", ":0",
                "SET n -9223372036854775806", "+OK",
                "DECR n", ":-9223372036854775807",
                "DECR n", "-ERR increment or decrement would overflow",
                "DECRBY n 2", "-ERR increment or decrement would overflow",
                "GET n", "$20|-9223372036854775807",
                "SET n 9223372036854775806", "+OK",
                "INCR n", ":9223372036854775807",
                "INCRBY n 9223372036854775807", "-ERR increment or decrement would overflow",
                "GET n", "$19|9223372036854775807",
                "DECRBY m 10", ":-10",
                "GET m", "$3|-10");
    }

    @Test
    @DisplayName("keys whose hashes are the same are different keys, few or many")
    void collidingKeys() {
        for (int bits : new int[] {1, 10}) {
            for (int key = 0; key < 1 << bits; key++) {
                dialogue("SET " + colliding(key, bits) + " " + key, "+OK");
            }
            for (int key = 0; key < 1 << bits; key++) {
                dialogue(
                        "GET " + colliding(key, bits),
                        "$" + Integer.toString(key).length() + "|" + key);
            }
            dialogue("DBSIZE", ":" + (1 << bits), "FLUSHALL", "+OK");
        }
    }

    /** {@code Aa} and {@code BB} have the same hash; so have all that are made of them. */
    private static String colliding(int key, int bits) {
        StringBuilder name = new StringBuilder();
        for (int bit = 0; bit < bits; bit++) {
            name.append((key >>> bit & 1) == 0 ? "Aa" : "BB");
        }
        return name.toString();
    }

    // ---- Collections ----

    @Test
    @DisplayName("takes from a list what is asked for, and no more than it has")
    void lists() {
        dialogue(
                "RPUSH l a b c d", ":4",
                "LRANGE l 3 3", "*1|$1|d",
                "LRANGE l 0 0", "*1|$1|a",
                "LRANGE l 2 1", "*0",
                "LRANGE l 4 4", "*0",
                "LRANGE l -100 1", "*2|$1|a|$1|b",
                "LRANGE l -1 -1", "*1|$1|d",
                "LRANGE l 0 -4", "*1|$1|a",
                "LRANGE l x 1", "-ERR value is not an integer or out of range",
                "LPOP l 1 2", "-ERR syntax error",
                "LPOP l -1", "-ERR value is out of range, must be positive",
                "LPOP l 0", "*0",
                "RPOP l 2", "*2|$1|d|$1|c",
                "LLEN l", ":2",
                "LPOP l 1", "*1|$1|a",
                "EXISTS l", ":1",
                "RPOP l 3", "*1|$1|b",
                "EXISTS l", ":0");
    }

    @Test
    @DisplayName("a set and a hash are there until their last member goes")
    void members() {
        dialogue(
                "SADD s a b", ":2",
                "SISMEMBER s z", ":0",
                "SREM s z a y", ":1",
                "SMEMBERS s", "*1|$1|b",
                "EXISTS s", ":1",
                "SREM s b b b", ":1",
                "EXISTS s", ":0",
                "HSET h f 1 g", "-ERR wrong number of arguments for 'hset' command",
                "HSET h f 1 g 2 f 3", ":2",
                "HGET h f", "$1|3",
                "HGETALL h", "*4|$1|f|$1|3|$1|g|$1|2",
                "HDEL h g z y", ":1",
                "HGETALL h", "*2|$1|f|$1|3",
                "HLEN h", ":1",
                "HDEL h f", ":1",
                "EXISTS h", ":0");
    }

    // ---- Time ----

    @Test
    @DisplayName("tells the time that is left rounded to the nearest")
    void timeLeft() throws Exception {
        dialogue("SET k v PX 2500", "+OK", "TTL k", ":3", "PTTL k", ":2500");
        clock.advance(Duration.ofNanos(1));
        dialogue("TTL k", ":2", "PTTL k", ":2500");
        clock.advance(Duration.ofNanos(499_999));
        dialogue("PTTL k", ":2500");
        clock.advance(Duration.ofNanos(1));
        dialogue("PTTL k", ":2499");
        dialogue("PERSIST k", ":1", "PERSIST k", ":0", "TTL k", ":-1", "GET k", "$1|v");
        dialogue("PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command");
        dialogue("PEXPIRE k 0", ":1", "EXISTS k", ":0");
        alarmsPending(0);
    }

    @Test
    @DisplayName("a key is gone at its deadline, though its alarm has not come yet")
    void goneAtTheDeadline() {
        dialogue("SET k v PX 2500", "+OK", "SET k w XX KEEPTTL", "+OK", "GET k", "$1|w");
        keys.lock.lock(); // which the alarm needs, too
        try {
            clock.advance(Duration.ofMillis(2500).minusNanos(1));
            dialogue("GET k", "$1|w");
            clock.advance(Duration.ofNanos(1));
            assertThat(keys.size()).isEqualTo(1);
            dialogue("GET k", "$-1");
            assertThat(keys.size()).isZero();
        } finally {
            keys.lock.unlock();
        }
    }

    @Test
    @DisplayName("an alarm that was given up is not left behind, and a key that goes by itself takes its own along")
    void alarms() throws Exception {
        dialogue("SET a 1 EX 10", "+OK", "SET b 1 EX 10", "+OK", "SET c 1 EX 10", "+OK", "SET d 1 EX 10", "+OK");
        alarmsPending(4);
        assertThat(keys).hasToString("4 keys, 4 of them expire");
        dialogue("EXPIRE a 20", ":1", "DEL b", ":1", "SET c 2", "+OK");
        alarmsPending(2);
        assertThat(keys).hasToString("3 keys, 2 of them expire");
        pass(Duration.ofSeconds(10));
        dialogue("DBSIZE", ":2", "TTL a", ":10");
        assertThat(keys).hasToString("2 keys, 1 of them expire");
        dialogue("FLUSHALL", "+OK");
        assertThat(keys).hasToString("0 keys, 0 of them expire");
        alarmsPending(0);
    }

    // ---- The server ----

    @Test
    @DisplayName("answers what client libraries ask about the server")
    void aboutTheServer() {
        dialogue(
                "PING a b", "-ERR wrong number of arguments for 'ping' command",
                "SELECT x", "-ERR value is not an integer or out of range",
                "SELECT 1", "-ERR DB index is out of range",
                "SELECT 0", "+OK",
                "COMMAND COUNT", ":" + Command.values().length,
                "COMMAND DOCS", "*0",
                "CLIENT SETNAME me", "+OK",
                "CLIENT SETINFO lib me", "+OK",
                "CLIENT ID", ":7",
                "CLIENT KILL", "-ERR there are only CLIENT ID, SETNAME and SETINFO here",
                "CONFIG SET save x", "-ERR there is only CONFIG GET here",
                "CONFIG GET", "-ERR there is only CONFIG GET here",
                "CONFIG GET none", "*0",
                "CONFIG GET none databases", "*2|$9|databases|$1|1",
                "CONFIG GET *", "*8|$4|save|$0||$10|appendonly|$2|no|$9|maxmemory|$1|0|$9|databases|$1|1",
                "CONFIG GET save appendonly", "*4|$4|save|$0||$10|appendonly|$2|no");
        assertThat(client.ask("COMMAND"))
                .startsWith("*" + Command.values().length + "|*6|$4|ping|:-1|*0|:0|:0|:0|*6|$4|echo|:2|*0|")
                .endsWith("*6|$7|publish|:3|*0|:0|:0|:0|");
    }

    @Test
    @DisplayName("INFO tells the clients, the channels, the commands and the keys")
    void info() {
        dialogue("SET a 1", "+OK", "SET b 1 EX 10", "+OK");
        new Client(8).ask("SUBSCRIBE news");
        assertThat(client.ask("INFO"))
                .contains("|process_id:" + ProcessHandle.current().pid() + "|")
                .contains("|connected_clients:3|pubsub_channels:1|")
                .contains("|total_connections_received:5|total_commands_processed:4|")
                .contains("|db0:keys=2,expires=1,avg_ttl=0|");
    }

    @Test
    @DisplayName("an error is one line, of bounded length, whatever the command was called")
    void errors() {
        String name = "x".repeat(128);
        assertThat(client.ask(name)).isEqualTo("-ERR unknown command '" + name + "'|");
        dialogue("dbsize", ":0");
        assertThat(client.ask(name + "y")).isEqualTo("-ERR unknown command '" + name + "'|");
        client.tell("*1\r\n$4\r\na\r\nb\r\n");
        assertThat(client.replies()).isEqualTo("-ERR unknown command 'a  b'|");
        dialogue(
                "ECHO", "-ERR wrong number of arguments for 'echo' command",
                "ECHO a b", "-ERR wrong number of arguments for 'echo' command",
                "SET a", "-ERR wrong number of arguments for 'set' command",
                "DEL", "-ERR wrong number of arguments for 'del' command");
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "Host:", "put", "HEAD", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"})
    @DisplayName("ends at the first word of a browser, without a reply, and runs nothing behind it")
    void http(String word) {
        client.tell("SET k v\r\n" + word + " / x\r\nFLUSHALL\r\n");
        assertThat(client.replies()).isEqualTo("+OK|");
        assertThat(client.done).containsExactly("close");
        client.tell("FLUSHALL\r\n");
        assertThat(client.replies()).isEmpty();
        assertThat(keys.size()).isEqualTo(1);
    }

    @Test
    @DisplayName("a command has the words that it has: nothing is left of one before it")
    void nothingIsLeftOfTheLast() {
        dialogue(
                "CONFIG GET nonesuch *", "*8|$4|save|$0||$10|appendonly|$2|no|$9|maxmemory|$1|0|$9|databases|$1|1",
                "CONFIG GET none", "*0",
                "MSET a 1 b 2 c 3", "+OK",
                "DBSIZE", ":3",
                "SET \"\" v", "+OK",
                "EXISTS a b c a b c a b", ":8",
                "DEL a b c a b c a b c", ":3",
                "EXISTS \"\"", ":1",
                "SADD s \"\" a", ":2",
                "SREM s a b c a b c a b c a b", ":1",
                "HSET h \"\" v a v", ":2",
                "HDEL h a b c a b c a b c a b c", ":1");
    }

    // ---- Channels ----

    @Test
    @DisplayName("a subscriber hears what is published, and is asked for nothing else")
    void subscribers() {
        dialogue(
                "SUBSCRIBE a b a", "*3|$9|subscribe|$1|a|:1|*3|$9|subscribe|$1|b|:2|*3|$9|subscribe|$1|a|:2",
                "PING", "*2|$4|pong|$0|",
                "PING x", "*2|$4|pong|$1|x",
                "GET k",
                        "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are"
                                + " allowed in this context");
        assertThat(client.session).hasToString("client number 7, 0 bytes kept, [a, b]");
        Client other = new Client(8);
        assertThat(other.ask("PUBLISH a hello")).isEqualTo(":1|");
        assertThat(client.replies()).isEqualTo("*3|$7|message|$1|a|$5|hello|");
        assertThat(other.ask("PUBLISH c hello")).isEqualTo(":0|");
        dialogue("UNSUBSCRIBE c", "*3|$11|unsubscribe|$1|c|:2");
        assertThat(channels.size()).isEqualTo(2);
        dialogue("UNSUBSCRIBE", "*3|$11|unsubscribe|$1|a|:1|*3|$11|unsubscribe|$1|b|:0");
        assertThat(channels.size()).isZero();
        dialogue("UNSUBSCRIBE", "*3|$11|unsubscribe|$-1|:0", "PING", "+PONG", "QUIT", "+OK");
        assertThat(client.done).containsExactly("close");
    }

    @Test
    @DisplayName("a channel remains while one of its subscribers does")
    void oneRemains() {
        Client other = new Client(8);
        client.ask("SUBSCRIBE a");
        other.ask("SUBSCRIBE a b");
        channels.remove(other.session);
        assertThat(channels.size()).isEqualTo(1);
        assertThat(new Client(9).ask("PUBLISH a x")).isEqualTo(":1|");
        channels.remove(client.session);
        assertThat(channels.size()).isZero();
    }

    @Test
    @DisplayName("a subscriber for whom more than 32 MiB wait is cut off, and not told; the others are")
    void tooSlow() {
        Client other = new Client(8);
        Client third = new Client(9);
        client.ask("SUBSCRIBE a");
        other.ask("SUBSCRIBE a");
        third.ask("SUBSCRIBE a");
        other.replies();
        client.queued = 32 << 20;
        other.queued = (32 << 20) + 1;
        third.queued = (32 << 20) + 1;
        assertThat(new Client(10).ask("PUBLISH a x")).isEqualTo(":1|");
        assertThat(client.done).isEmpty();
        assertThat(other.done).containsExactly("abort");
        assertThat(third.done).containsExactly("abort");
        assertThat(other.replies()).isEmpty();
    }

    // ---- What waits ----

    @Test
    @DisplayName("mill-8: with much to send and a peer that takes nothing, nothing more is run or read until it does")
    void waitsForThePeer() {
        client.ask("SET big " + "x".repeat(1000));
        client.answer = SendResult.ABOVE_HIGH_WATER;
        client.tell("GET big\r\n".repeat(1500) + "SET done 1\r\n");
        assertThat(client.done).containsExactly("pause");
        assertThat(client.sent.size()).isBetween(Session.ENOUGH, Session.ENOUGH + 2000);
        client.tell("PI");
        assertThat(client.done).containsExactly("pause", "pause");
        client.sent.reset();
        client.answer = SendResult.QUEUED;
        client.session.onWritable();
        assertThat(client.done).containsExactly("pause", "pause", "resume");
        assertThat(client.replies()).endsWith("x|+OK|");
        assertThat(client.session.keptBytes()).isEqualTo(2);
        assertThat(client.ask("NG")).isEqualTo("+PONG|");
        assertThat(client.session.keptBytes()).isZero();
        client.session.onWritable();
        assertThat(client.done).as("it did not wait").containsExactly("pause", "pause", "resume");
    }

    @Test
    @DisplayName("mill-8: what comes while a reply waits is kept, though nothing else was")
    void keepsWhileItWaits() {
        int size = Session.ENOUGH + 1;
        client.tell("*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$" + size + "\r\n" + "x".repeat(size) + "\r\n");
        client.answer = SendResult.ABOVE_HIGH_WATER;
        client.tell("GET big\r\n");
        client.replies();
        assertThat(client.done).containsExactly("pause");
        assertThat(client.ask("PING")).isEmpty();
        client.answer = SendResult.QUEUED;
        client.session.onWritable();
        assertThat(client.replies()).isEqualTo("+PONG|");
    }

    @Test
    @DisplayName("a session whose peer fails does not keep the keys from the others")
    void theLockIsFree() {
        client.broken = true;
        assertThatThrownBy(() -> client.tell("PING\r\n")).hasMessage("as asked");
        assertThat(keys.lock.isLocked()).isFalse();
    }

    @Test
    @DisplayName("an empty line or an empty array is no command, and has no reply")
    void empty() {
        dialogue("PING", "+PONG");
        assertThat(client.ask("")).isEmpty();
        assertThat(client.ask("*0")).isEmpty();
        assertThat(client.ask("*x")).isEqualTo("-ERR Protocol error: invalid multibulk length|");
        assertThat(client.done).containsExactly("close");
    }

    @Test
    @DisplayName("the time of a command counts from its own beginning, and not from that of its last byte")
    void timeOfACommand() throws Exception {
        client.tell("PI");
        pass(Duration.ofSeconds(2));
        client.tell("NG\r\nECH");
        assertThat(client.session).hasToString("client number 7, 3 bytes kept, []");
        assertThat(client.session.keptBytes()).isEqualTo(3);
        pass(Duration.ofSeconds(2));
        assertThat(client.done).isEmpty();
        client.tell("O");
        pass(Duration.ofSeconds(2));
        assertThat(client.done).containsExactly("abort");
    }

    @Test
    @DisplayName("much to send is sent in parts, and all of it, to a peer that takes it")
    void sendsInParts() {
        client.ask("SET big " + "x".repeat(1000));
        client.tell("GET big\r\n".repeat(3000));
        assertThat(client.replies()).hasSize(3000 * "$1000|x|".length() + 3000 * 999);
        assertThat(client.done).isEmpty();
    }

    @Test
    @DisplayName("a reply that is not much does not wait, though the peer is behind")
    void littleDoesNotWait() {
        client.answer = SendResult.ABOVE_HIGH_WATER;
        dialogue("PING", "+PONG", "PING", "+PONG");
        assertThat(client.done).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "3", "7", "20", "1000"})
    @DisplayName("runs the same commands however they are cut, and keeps what is not a whole one")
    void keepsTheRest(int piece) {
        StringBuilder all = new StringBuilder();
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            all.append("ECHO ").append(i).append("\r\n");
            expected.append('$')
                    .append(Integer.toString(i).length())
                    .append('|')
                    .append(i)
                    .append('|');
        }
        String text = all + "ECH";
        for (int from = 0; from < text.length(); from += piece) {
            client.tell(text.substring(from, Math.min(from + piece, text.length())));
        }
        assertThat(client.replies()).isEqualTo(expected.toString());
        assertThat(client.session.keptBytes()).isEqualTo(3);
        assertThat(client.session).hasToString("client number 7, 3 bytes kept, []");
    }

    @Test
    @DisplayName("a client is late with its own command, and not while it waits to be sent replies")
    void lateOrWaiting() throws Exception {
        client.ask("SET big " + "x".repeat(1000));
        client.answer = SendResult.ABOVE_HIGH_WATER;
        client.tell("PIN");
        alarmsPending(1);
        client.tell("G\r\n" + "GET big\r\n".repeat(2000) + "PIN");
        pass(Duration.ofHours(1));
        assertThat(client.done).containsExactly("pause");
        client.answer = SendResult.QUEUED;
        client.session.onWritable();
        pass(Duration.ofSeconds(3));
        assertThat(client.done).as("3 s, and as long as three bytes take").containsExactly("pause", "resume");
        pass(Duration.ofSeconds(1));
        assertThat(client.done).containsExactly("pause", "resume", "abort");
    }

    @Test
    @DisplayName("a client that is gone leaves no alarm behind")
    void gone() {
        client.tell("PIN");
        alarmsPending(1);
        client.session.onDisconnect();
        alarmsPending(0);
    }

    /** The loop counts its alarms at the end of a turn, and nobody wakes it for one that was given up. */
    private void alarmsPending(int count) {
        await().until(() -> {
            reactors.execute(() -> {});
            return reactors.metrics().alarmsPending() == count;
        });
    }

    private void pass(Duration time) throws Exception {
        clock.advance(time);
        CompletableFuture<Void> after = new CompletableFuture<>();
        reactors.schedule(Duration.ZERO, fired -> after.complete(null));
        after.get(30, TimeUnit.SECONDS);
    }
}
