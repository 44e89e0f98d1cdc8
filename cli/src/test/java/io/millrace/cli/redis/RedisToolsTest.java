package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Cli;
import io.millrace.cli.Tools;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Redis's own programs against millrace serve redis")
class RedisToolsTest {
    private static String run(String in, String program, int port, String... args) throws Exception {
        Tools.require(program, "redis-tools");
        List<String> command = new ArrayList<>(List.of(program, "-h", "127.0.0.1", "-p", Integer.toString(port)));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            process.outputWriter(UTF_8).append(in).close();
            String out = new String(process.getInputStream().readAllBytes(), UTF_8);
            assertThat(process.waitFor()).as(out).isZero();
            return out;
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @DisplayName("redis-cli")
    void cli() throws Exception {
        Tools.require("redis-cli", "redis-tools");
        try (Cli server = Cli.serve("redis")) {
            int port = server.port();
            assertThat(run(
                            "SET a 1\nINCR a\nLPUSH l x y\nLRANGE l 0 -1\nGET none\nFROB\nEXPIRE a 100\nTTL a\n",
                            "redis-cli",
                            port))
                    .isEqualTo("OK\n2\n2\ny\nx\n\nERR unknown command 'FROB'\n\n1\n100\n");
            assertThat(run("", "redis-cli", port, "-r", "3", "PING")).isEqualTo("PONG\nPONG\nPONG\n");
            assertThat(run("", "redis-cli", port, "INFO")).contains("server_name:millrace", "connected_clients:1");
            server.signal("TERM");
            assertThat(server.rest()).singleElement().asString().startsWith("stopped by SIGTERM: 3 connections, ");
            assertThat(server.exit()).isZero();
        }
    }

    @Test
    @DisplayName("redis-benchmark, one by one and in pipelines, on one loop and on two")
    void benchmark() throws Exception {
        Tools.require("redis-benchmark", "redis-tools");
        for (String loops : new String[] {"1", "2"}) {
            try (Cli server = Cli.serve("redis", "--loops", loops)) {
                int port = server.port();
                String tests = "ping,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,lrange_100,mset";
                assertThat(run("", "redis-benchmark", port, "-q", "-n", "2000", "-c", "20", "-t", tests))
                        .contains("requests per second")
                        .doesNotContainIgnoringCase("error");
                assertThat(run(
                                "",
                                "redis-benchmark",
                                port,
                                "-q",
                                "-n",
                                "20000",
                                "-P",
                                "16",
                                "-r",
                                "1000",
                                "-t",
                                "set,get,incr"))
                        .contains("requests per second")
                        .doesNotContainIgnoringCase("error");
            }
        }
    }

    @Test
    @DisplayName("mill-12: at a signal the server sends what it owes to a slow reader before it ends")
    void drains() throws Exception {
        int size = 16 << 20;
        try (Cli server = Cli.serve("redis", "--drain", "30");
                SocketChannel client =
                        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()))) {
            ByteBuffer request =
                    UTF_8.encode("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$" + size + "\r\n" + "x".repeat(size) + "\r\n");
            while (request.hasRemaining()) {
                client.write(request);
            }
            ByteBuffer answer = ByteBuffer.allocate(size);
            client.read(answer.limit(5));
            client.write(UTF_8.encode("PING\r\nGET a\r\n"));
            while (answer.position() < 5 + 7) {
                client.read(answer.limit(5 + 7));
            }
            server.signal("TERM");
            assertThat(new String(answer.array(), 0, 12, UTF_8)).isEqualTo("+OK\r\n+PONG\r\n");
            long got = answer.position();
            for (int n = client.read(answer.clear()); n >= 0; n = client.read(answer.clear())) {
                got += n;
            }
            assertThat(got).isEqualTo(12 + ("$" + size + "\r\n\r\n").length() + size);
            assertThat(server.rest()).singleElement().asString().endsWith(" " + got + " bytes out");
            assertThat(server.exit()).isZero();
        }
    }
}
