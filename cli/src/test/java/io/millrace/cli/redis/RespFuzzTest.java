package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.SendResult;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Sessions that begin as valid ones and are then damaged, told to two servers: to one as a whole, to the other byte by byte. Both must say the same, well-formed, one reply to each
 * command, and either end the connection or wait for more; and keep nothing of a client that is gone. A failure prints the seed and the input; the summary tells how deep the inputs came.
 */
@DisplayName("Damaged RESP")
class RespFuzzTest {
    private static final int INPUTS = Boolean.getBoolean("millrace.soak") ? 1_000_000 : 50_000;
    private static final long SEED = Long.getLong("millrace.seed", 20_260_101L);

    private static final String[] NAMES = Arrays.stream(Command.values())
            .filter(command -> command != Command.COMMAND) // a long reply, and the same each time
            .map(Enum::name)
            .toArray(String[]::new);

    private final Reactors reactors = Reactors.builder()
            .reactors(1)
            .clock(new ManualClock())
            .withoutWatchdog()
            .name("fuzz")
            .open();

    @AfterEach
    void close() {
        reactors.close();
    }

    /** One server, with one client at a time. */
    private final class Twin implements Peer {
        final Keyspace keys = new Keyspace(reactors);
        final Channels channels = new Channels((to, message) -> {
            to.forEach(peer -> peer.send(message.duplicate()));
            return to.size();
        });
        long opened;
        final Commands commands = new Commands(keys, channels, new Commands.Server() {
            @Override
            public int connections() {
                return 1;
            }

            @Override
            public long connectionsOpened() {
                return opened;
            }
        });
        final ByteArrayOutputStream replies = new ByteArrayOutputStream();
        boolean closed;
        boolean owesWritable;

        Session connect() {
            opened++;
            replies.reset();
            closed = false;
            return new Session(this, keys, commands, new CommandLimit(reactors, Long.MAX_VALUE / 2, this));
        }

        void tell(Session session, byte[] bytes, int from, int count) {
            session.onData(ByteBuffer.wrap(bytes, from, count));
            while (owesWritable) {
                owesWritable = false;
                session.onWritable();
            }
        }

        void disconnect(Session session) {
            session.onDisconnect();
            channels.remove(session);
            assertThat(channels.size()).isZero();
        }

        @Override
        public long id() {
            return opened;
        }

        @Override
        public SendResult send(ByteBuffer data) {
            assertThat(closed).as("sent after close").isFalse();
            owesWritable |= data.remaining() > 64 << 10;
            replies.write(data.array(), data.arrayOffset() + data.position(), data.remaining());
            return owesWritable ? SendResult.ABOVE_HIGH_WATER : SendResult.QUEUED;
        }

        @Override
        public long queuedBytes() {
            return 0;
        }

        @Override
        public void pauseReads() {}

        @Override
        public void resumeReads() {}

        @Override
        public void close() {
            closed = true;
        }

        @Override
        public void abort() {
            closed = true;
        }
    }

    @Test
    @DisplayName("is answered or closed, the same however it is cut, and leaves nothing behind")
    void survives() {
        Random random = new Random(SEED);
        Twin whole = new Twin();
        Twin bytewise = new Twin();
        TreeMap<Integer, Integer> depths = new TreeMap<>();
        int broken = 0;
        int unfinished = 0;
        long replies = 0;
        long bytes = 0;
        for (int i = 0; i < INPUTS; i++) {
            byte[] input = damage(random, session(random));
            bytes += input.length;
            Session first = whole.connect();
            Session second = bytewise.connect();
            try {
                whole.tell(first, input, 0, input.length);
                for (int at = 0; at < input.length; at++) {
                    bytewise.tell(second, input, at, 1);
                }
                assertThat(bytewise.replies.toByteArray()).isEqualTo(whole.replies.toByteArray());
                assertThat(second.isEnded()).isEqualTo(first.isEnded());
                assertThat(second.keptBytes()).isEqualTo(first.keptBytes());
                assertThat(whole.closed).isEqualTo(first.isEnded());
                assertThat(first.keptBytes()).isLessThanOrEqualTo(first.isEnded() ? 0 : input.length);
                int count = count(whole.replies.toByteArray());
                replies += count;
                depths.merge(Math.min(count, 16), 1, Integer::sum);
                String text = whole.replies.toString(ISO_8859_1);
                broken += text.contains("-ERR Protocol error: ") ? 1 : 0;
                unfinished += first.keptBytes() > 0 ? 1 : 0;
                whole.disconnect(first);
                bytewise.disconnect(second);
                assertThat(bytewise.keys.size()).isEqualTo(whole.keys.size());
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + SEED + ", input " + i + ": " + escaped(input), e);
            }
        }
        System.out.println("RESP fuzz: seed " + SEED + ", " + INPUTS + " sessions, " + bytes + " bytes, " + replies
                + " replies; " + broken + " protocol errors, " + unfinished
                + " unfinished; replies a session (16: or more): " + depths);
        // It came deep: most sessions had several commands answered, and all ends occur.
        assertThat(replies).isGreaterThan(3L * INPUTS);
        assertThat(broken).isBetween(INPUTS / 50, INPUTS);
        assertThat(unfinished).isGreaterThan(INPUTS / 50);
        assertThat(whole.keys.size()).as("there are only so many names of keys").isLessThan(5_000);
    }

    // ---- Inputs ----

    private static byte[] session(Random random) {
        StringBuilder text = new StringBuilder();
        for (int left = 1 + random.nextInt(12); left > 0; left--) {
            if (random.nextInt(8) == 0) {
                text.append(name(random));
                for (int words = random.nextInt(4); words > 0; words--) {
                    text.append(' ').append(word(random));
                }
                text.append("\r\n");
                continue;
            }
            int words = random.nextInt(5);
            text.append('*').append(words + 1).append("\r\n");
            bulk(text, name(random));
            for (; words > 0; words--) {
                bulk(text, word(random));
            }
        }
        return text.toString().getBytes(ISO_8859_1);
    }

    private static void bulk(StringBuilder text, String word) {
        text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }

    private static String name(Random random) {
        String name = NAMES[random.nextInt(NAMES.length)];
        // QUIT, as often as the others, would end most sessions early.
        return name.equals("QUIT") && random.nextInt(10) > 0 ? "PING" : name;
    }

    private static String word(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> Integer.toString(random.nextInt(300) - 100);
            case 1 -> "";
            case 2 -> "EX";
            case 3 -> "GET";
            case 4 -> "x".repeat(random.nextInt(random.nextInt(10) == 0 ? 200 : 20));
            default -> "key" + random.nextInt(5);
        };
    }

    /** A byte changed, left out, put in or said twice; a part lost or moved; or nothing at all. */
    private static byte[] damage(Random random, byte[] valid) {
        byte[] bytes = valid;
        for (int times = random.nextInt(4); times > 0 && bytes.length > 2; times--) {
            int at = random.nextInt(bytes.length);
            int to = at + 1 + random.nextInt(Math.min(12, bytes.length - at));
            bytes = switch (random.nextInt(7)) {
                case 0 -> replace(bytes, at, at + 1, new byte[] {(byte) random.nextInt(256)});
                case 1 -> replace(bytes, at, to, new byte[0]);
                case 2 -> replace(bytes, at, at, Arrays.copyOfRange(bytes, at, to));
                case 3 ->
                    replace(
                            bytes,
                            at,
                            at,
                            "*$\r\n-09:\"' \0".substring(at % 11, at % 11 + 1).getBytes(ISO_8859_1));
                case 4 -> Arrays.copyOf(bytes, at);
                case 5 -> replace(bytes, at, at + 1, new byte[] {(byte) ('0' + random.nextInt(10))});
                default ->
                    replace(
                            bytes,
                            at,
                            at,
                            "99999999999".substring(random.nextInt(11)).getBytes(ISO_8859_1));
            };
        }
        return bytes;
    }

    private static byte[] replace(byte[] in, int from, int to, byte[] by) {
        byte[] out = new byte[in.length - (to - from) + by.length];
        System.arraycopy(in, 0, out, 0, from);
        System.arraycopy(by, 0, out, from, by.length);
        System.arraycopy(in, to, out, from + by.length, in.length - to);
        return out;
    }

    private static String escaped(byte[] input) {
        StringBuilder text = new StringBuilder();
        for (byte b : input) {
            text.append(b >= ' ' && b < 127 ? Character.toString(b) : String.format("\\x%02x", b));
        }
        return text.toString();
    }

    // ---- Replies ----

    private int position;

    /** How many replies there are; all are well formed. */
    private int count(byte[] bytes) {
        int count = 0;
        for (position = 0; position < bytes.length; count++) {
            reply(bytes);
        }
        assertThat(position).isEqualTo(bytes.length);
        return count;
    }

    private void reply(byte[] bytes) {
        char kind = (char) bytes[position];
        int end = position;
        while (bytes[end] != '\r') {
            assertThat(bytes[end]).isNotEqualTo((byte) '\n');
            end++;
        }
        assertThat(bytes[end + 1]).isEqualTo((byte) '\n');
        String line = new String(bytes, position + 1, end - position - 1, ISO_8859_1);
        position = end + 2;
        switch (kind) {
            case '+', '-' -> {}
            case ':' -> Long.parseLong(line);
            case '$' -> {
                int length = Integer.parseInt(line);
                if (length >= 0) {
                    position += length;
                    assertThat(bytes[position]).isEqualTo((byte) '\r');
                    assertThat(bytes[position + 1]).isEqualTo((byte) '\n');
                    position += 2;
                }
            }
            case '*' -> {
                for (int left = Integer.parseInt(line); left > 0; left--) {
                    reply(bytes);
                }
            }
            default -> throw new AssertionError("no reply begins with " + kind);
        }
    }
}
