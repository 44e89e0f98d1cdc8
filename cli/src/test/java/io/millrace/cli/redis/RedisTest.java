package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("serve redis")
class RedisTest {
    private Reactors reactors;
    private TcpServer server;
    private final List<Client> clients = new ArrayList<>();

    @BeforeEach
    void open() throws IOException {
        start(1, Dispatch.LOOP);
    }

    private void start(int loops, Dispatch mode) throws IOException {
        reactors = Reactors.builder().reactors(loops).name("redis").open();
        CompletableFuture<ServerContext> context = new CompletableFuture<>();
        server = TcpServer.builder()
                .manager(reactors)
                .dispatch(mode, 2)
                .waterMarks(32 << 10, 64 << 10, 1L << 30)
                .start(new RedisHandler(reactors, context::join, Duration.ofMinutes(10)));
        context.complete(server.context());
    }

    @AfterEach
    void close() throws IOException {
        for (Client client : clients) {
            client.close();
        }
        server.close();
        reactors.close();
    }

    /** Speaks the protocol by hand: spaces part words, replies are as they come, with | for the ends of lines. */
    private final class Client implements AutoCloseable {
        final Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
        final InputStream in = socket.getInputStream();

        Client() throws IOException {
            clients.add(this);
        }

        void send(String... commands) throws IOException {
            StringBuilder text = new StringBuilder();
            for (String command : commands) {
                String[] words = command.split(" ", -1);
                text.append('*').append(words.length).append("\r\n");
                for (String word : words) {
                    text.append('$')
                            .append(word.length())
                            .append("\r\n")
                            .append(word)
                            .append("\r\n");
                }
            }
            raw(text.toString());
        }

        void raw(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(ISO_8859_1));
        }

        String ask(String command) throws IOException {
            send(command);
            return reply();
        }

        String reply() throws IOException {
            String line = line();
            long number = line.charAt(0) == '$' || line.charAt(0) == '*' ? Long.parseLong(line.substring(1)) : -1;
            if (line.charAt(0) == '$' && number >= 0) {
                return new String(in.readNBytes((int) number + 2), ISO_8859_1).substring(0, (int) number);
            }
            if (line.charAt(0) == '*' && number >= 0) {
                List<String> all = new ArrayList<>();
                for (long i = 0; i < number; i++) {
                    all.add(reply());
                }
                return all.toString();
            }
            return line;
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\r'; c = in.read()) {
                assertThat(c).as("the connection is open").isNotNegative();
                line.append((char) c);
            }
            assertThat(in.read()).isEqualTo('\n');
            return line.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST / HTTP/1.1",
                "post / HTTP/1.1",
                "PUT / HTTP/1.1",
                "OPTIONS * HTTP/1.1",
                "DELETE /x HTTP/1.1",
                "GET / HTTP/1.1\r\nHost: 127.0.0.1:7007",
                "HOST: 127.0.0.1"
            })
    @DisplayName("does nothing that a browser asks for: a page could have it send commands")
    void http(String beginning) throws Exception {
        try (Client owner = new Client();
                Client browser = new Client()) {
            assertThat(owner.ask("SET precious 1")).isEqualTo("+OK");
            browser.raw(beginning + "\r\nContent-Type: text/plain\r\n\r\nFLUSHALL\r\nPING\r\n");
            browser.socket.shutdownOutput();
            String answer = new String(browser.in.readAllBytes(), ISO_8859_1);
            assertThat(answer).doesNotContain("OK").doesNotContain("PONG");
            assertThat(owner.ask("GET precious")).isEqualTo("1");
        }
    }

    @Test
    @DisplayName("says to each command what Redis says")
    void commands() throws Exception {
        try (Client client = new Client()) {
            String[][] dialogue = {
                {"PING", "+PONG"},
                {"ping hello", "hello"},
                {"ECHO x", "x"},
                {"SELECT 0", "+OK"},
                {"SELECT 1", "-ERR DB index is out of range"},
                {"GET a", "$-1"},
                {"SET a 1", "+OK"},
                {"GET a", "1"},
                {"SET a two", "+OK"},
                {"get a", "two"},
                {"SET a b NX", "$-1"},
                {"SET n b NX", "+OK"},
                {"SET m b XX", "$-1"},
                {"SET n c XX", "+OK"},
                {"GET n", "c"},
                {"SET a b NX XX", "-ERR syntax error"},
                {"SET a b FOO", "-ERR syntax error"},
                {"SET a b EX 0", "-ERR invalid expire time in 'set' command"},
                {"SET a b EX x", "-ERR value is not an integer or out of range"},
                {"EXISTS a n zz a", ":3"},
                {"DEL a n zz", ":2"},
                {"DBSIZE", ":0"},
                {"INCR i", ":1"},
                {"INCR i", ":2"},
                {"INCRBY i 97", ":99"},
                {"INCR i", ":100"},
                {"DECR i", ":99"},
                {"DECRBY i 100", ":-1"},
                {"GET i", "-1"},
                {"SET i 9223372036854775807", "+OK"},
                {"INCR i", "-ERR increment or decrement would overflow"},
                {"SET i x", "+OK"},
                {"INCR i", "-ERR value is not an integer or out of range"},
                {"MSET a 1 b 2 c 3", "+OK"},
                {"MGET a x c", "[1, $-1, 3]"},
                {"MSET a 1 b", "-ERR wrong number of arguments for 'mset' command"},
                {"LPUSH l a b c", ":3"},
                {"RPUSH l d", ":4"},
                {"LRANGE l 0 -1", "[c, b, a, d]"},
                {"LRANGE l 1 2", "[b, a]"},
                {"LRANGE l -2 100", "[a, d]"},
                {"LRANGE l 5 9", "[]"},
                {"LRANGE none 0 -1", "[]"},
                {"LLEN l", ":4"},
                {"LPOP l", "c"},
                {"RPOP l", "d"},
                {"LPOP l 5", "[b, a]"},
                {"LPOP l", "$-1"},
                {"LPOP l 2", "*-1"},
                {"EXISTS l", ":0"},
                {"SADD s x y x", ":2"},
                {"SADD s y", ":0"},
                {"SCARD s", ":2"},
                {"SISMEMBER s x", ":1"},
                {"SREM s x y", ":2"},
                {"EXISTS s", ":0"},
                {"HSET h f 1 g 2", ":2"},
                {"HSET h f 3", ":0"},
                {"HGET h f", "3"},
                {"HGET h x", "$-1"},
                {"HLEN h", ":2"},
                {"HDEL h f g", ":2"},
                {"EXISTS h", ":0"},
                {"LPUSH a x", "-WRONGTYPE Operation against a key holding the wrong kind of value"},
                {"TYPE a", "+string"},
                {"TYPE zz", "+none"},
                {"TTL a", ":-1"},
                {"TTL zz", ":-2"},
                {"EXPIRE zz 10", ":0"},
                {"EXPIRE a 100", ":1"},
                {"TTL a", ":100"},
                {"PERSIST a", ":1"},
                {"TTL a", ":-1"},
                {"EXPIRE a 100", ":1"},
                {"SET a 1", "+OK"},
                {"TTL a", ":-1"},
                {"EXPIRE a -1", ":1"},
                {"EXISTS a", ":0"},
                {"EXPIRE b 9223372036854775807", "-ERR invalid expire time in 'expire' command"},
                {"SET k v EX 100", "+OK"},
                {"SET k w KEEPTTL", "+OK"},
                {"TTL k", ":100"},
                {"CONFIG GET save", "[save, ]"},
                {"CONFIG GET appendonly", "[appendonly, no]"},
                {"COMMAND COUNT", ":" + Command.values().length},
                {"COMMAND DOCS", "[]"},
                {"GET", "-ERR wrong number of arguments for 'get' command"},
                {"FROB x", "-ERR unknown command 'FROB'"},
                {"UNSUBSCRIBE", "[unsubscribe, $-1, :0]"},
                {"PUBLISH c x", ":0"},
                {"FLUSHALL", "+OK"},
                {"DBSIZE", ":0"},
                {"QUIT", "+OK"},
            };
            for (String[] line : dialogue) {
                assertThat(client.ask(line[0])).as(line[0]).isEqualTo(line[1]);
            }
            assertThat(client.in.read()).isEqualTo(-1);
        }
    }

    @Test
    @DisplayName("answers a pipeline and lines of words in order")
    void pipeline() throws Exception {
        try (Client client = new Client()) {
            client.send("SET a 1", "INCR a", "GET a", "NONSENSE", "PING");
            client.raw("PING\r\nGET a\r\nset q \"a b\"\r\nget q\n");
            assertThat(List.of(client.reply(), client.reply(), client.reply(), client.reply(), client.reply()))
                    .containsExactly("+OK", ":2", "2", "-ERR unknown command 'NONSENSE'", "+PONG");
            assertThat(List.of(client.reply(), client.reply(), client.reply(), client.reply()))
                    .containsExactly("+PONG", "2", "+OK", "a b");
        }
    }

    @ParameterizedTest
    @CsvSource({"*x\\r\\n,invalid multibulk length", "*1\\r\\nGET,'expected ''$'', got ''G'''"})
    @DisplayName("says what is wrong with a client that speaks another protocol, after the replies it owes, and closes")
    void protocolError(String text, String message) throws Exception {
        try (Client client = new Client()) {
            client.raw("PING\r\n" + text.replace("\\r", "\r").replace("\\n", "\n"));
            assertThat(client.reply()).isEqualTo("+PONG");
            assertThat(client.reply()).isEqualTo("-ERR Protocol error: " + message);
            assertThat(client.in.read()).isEqualTo(-1);
        }
    }

    @Test
    @DisplayName("a key that expires is gone at its time, asked for or not")
    void expires() throws Exception {
        try (Client client = new Client()) {
            assertThat(client.ask("SET a 1 PX 60")).isEqualTo("+OK");
            assertThat(client.ask("SET b 1")).isEqualTo("+OK");
            long begin = System.nanoTime();
            assertThat(client.ask("PEXPIRE b 60")).isEqualTo(":1");
            while (!client.ask("DBSIZE").equals(":0")) {
                assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(30));
            }
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(60));
            assertThat(client.ask("GET a")).isEqualTo("$-1");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("subscribers get what is published, in order, on several loops and in every dispatch mode")
    void publishes(Dispatch mode) throws Exception {
        close();
        start(3, mode);
        List<Client> subscribers = List.of(new Client(), new Client(), new Client(), new Client());
        for (Client subscriber : subscribers) {
            subscriber.send("SUBSCRIBE news sport");
            assertThat(subscriber.reply()).isEqualTo("[subscribe, news, :1]");
            assertThat(subscriber.reply()).isEqualTo("[subscribe, sport, :2]");
        }
        try (Client publisher = new Client()) {
            for (int i = 0; i < 200; i++) {
                assertThat(publisher.ask("PUBLISH news " + i)).isEqualTo(":4");
            }
            for (Client subscriber : subscribers) {
                for (int i = 0; i < 200; i++) {
                    assertThat(subscriber.reply()).isEqualTo("[message, news, " + i + "]");
                }
                assertThat(subscriber.ask("GET a")).startsWith("-ERR Can't execute 'get': only (P|S)SUBSCRIBE");
                assertThat(subscriber.ask("PING")).isEqualTo("[pong, ]");
                assertThat(subscriber.ask("UNSUBSCRIBE news")).isEqualTo("[unsubscribe, news, :1]");
            }
            assertThat(publisher.ask("PUBLISH news x")).isEqualTo(":0");
            assertThat(publisher.ask("PUBLISH sport x")).isEqualTo(":4");
            subscribers.getFirst().close();
            long begin = System.nanoTime();
            while (!publisher.ask("PUBLISH sport x").equals(":3")) {
                assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(30));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("many clients on several loops share one keyspace: no increment is lost")
    void shares(Dispatch mode) throws Exception {
        close();
        start(3, mode);
        List<Client> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all.add(new Client());
        }
        StringBuilder batch = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            batch.append("INCR n\r\n");
        }
        for (Client client : all) {
            client.raw(batch.toString());
        }
        for (Client client : all) {
            for (int i = 0; i < 500; i++) {
                assertThat(client.reply()).startsWith(":");
            }
        }
        assertThat(all.getFirst().ask("GET n")).isEqualTo("4000");
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "mill-8: a client that asks for much and reads nothing is not served further until it reads; then it gets"
                    + " all")
    void asksForTooMuch(Dispatch mode) throws Exception {
        close();
        start(1, mode);
        try (Client greedy = new Client();
                Client other = new Client()) {
            String big = "x".repeat(1 << 20);
            greedy.send("SET big " + big);
            assertThat(greedy.reply()).isEqualTo("+OK");
            int count = 60;
            greedy.raw("GET big\r\n".repeat(count) + "PING\r\n");
            assertThat(other.ask("PING")).isEqualTo("+PONG");
            long waiting = server.context().connections().stream()
                    .mapToLong(connection -> connection.queuedBytes())
                    .sum();
            assertThat(waiting).isLessThan(8L << 20);
            for (int i = 0; i < count; i++) {
                assertThat(greedy.reply().length()).isEqualTo(big.length());
            }
            assertThat(greedy.reply()).isEqualTo("+PONG");
        }
    }

    @Test
    @DisplayName("a value that comes in many reads is taken whole")
    void bigValue() throws Exception {
        try (Client client = new Client()) {
            String big = "0123456789".repeat(500_000);
            assertThat(client.ask("SET big " + big)).isEqualTo("+OK");
            assertThat(client.ask("GET big")).isEqualTo(big);
            assertThat(client.ask("PING")).isEqualTo("+PONG");
        }
    }
}
