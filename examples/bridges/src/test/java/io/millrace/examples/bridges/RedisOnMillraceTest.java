package io.millrace.examples.bridges;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.millrace.engine.Reactors;
import io.millrace.netty.Millrace;
import io.netty.channel.EventLoopGroup;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lettuce on a reactor, against a real Redis. */
class RedisOnMillraceTest {
    @TempDir
    static Path folder;

    private static Process redis;
    private static RedisURI address;

    @BeforeAll
    static void startRedis() throws IOException {
        Tools.require("redis-server", "redis-server");
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        redis = new ProcessBuilder(
                        "redis-server",
                        "--port",
                        Integer.toString(port),
                        "--bind",
                        "127.0.0.1",
                        "--dir",
                        folder.toString(),
                        "--save",
                        "")
                .redirectErrorStream(true)
                .start();
        StringBuilder output = new StringBuilder();
        BufferedReader lines = redis.inputReader(StandardCharsets.UTF_8);
        for (String line = lines.readLine(); ; line = lines.readLine()) {
            assertThat(line).as("before the end: %s", output).isNotNull();
            if (line.contains("Ready to accept connections")) {
                break;
            }
            output.append(line).append('\n');
        }
        address = RedisURI.create("127.0.0.1", port);
    }

    @AfterAll
    static void endRedis() throws InterruptedException {
        if (redis != null) {
            redis.destroy();
            assertThat(redis.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("nty-4: the program stores and reads a word")
    void program() {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            RedisOnMillrace.main(new String[] {address.toURI().toString()});
        } finally {
            System.setOut(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualToIgnoringNewLines("hello from Millrace");
    }

    @Test
    @DisplayName(
            "nty-4: Lettuce on a reactor: pipelines, large values, messages, and a connection that is lost and found")
    void lettuce() throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        try (Reactors reactors = Reactors.builder().reactors(1).name("lettuce").open()) {
            EventLoopGroup group = Millrace.groupOn(reactors);
            ClientResources resources = RedisOnMillrace.resourcesOn(group);
            try (RedisClient client = new RedisOnMillrace.Client(resources, address, group);
                    StatefulRedisConnection<String, String> connection = client.connect()) {
                assertThat(reactors.dump()).contains("MillraceSocketChannel");
                pipeline(connection.async());
                String large = "v".repeat(5_000_000);
                assertThat(connection.sync().set("large", large)).isEqualTo("OK");
                assertThat(connection.sync().get("large")).isEqualTo(large);
                messages(client, connection, threads);
                surviveKill(connection);
                assertThat(threads).containsExactly("lettuce-0");
            } finally {
                resources.shutdown(0, 10, TimeUnit.SECONDS).sync();
            }
            assertThat(group.submit(() -> "running").get(10, TimeUnit.SECONDS))
                    .as("shutting Lettuce's resources down leaves the group to its owner")
                    .isEqualTo("running");
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static void pipeline(RedisAsyncCommands<String, String> commands) throws Exception {
        List<RedisFuture<Long>> counts = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            counts.add(commands.incr("counter"));
        }
        long expected = 1;
        for (RedisFuture<Long> count : counts) {
            assertThat(count.get(20, TimeUnit.SECONDS)).isEqualTo(expected++);
        }
    }

    private static void messages(
            RedisClient client, StatefulRedisConnection<String, String> sender, Set<String> threads) throws Exception {
        try (StatefulRedisPubSubConnection<String, String> subscriber = client.connectPubSub()) {
            CompletableFuture<String> message = new CompletableFuture<>();
            subscriber.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String text) {
                    threads.add(Thread.currentThread().getName());
                    message.complete(text);
                }
            });
            subscriber.sync().subscribe("news");
            sender.sync().publish("news", "it works");
            assertThat(message.get(10, TimeUnit.SECONDS)).isEqualTo("it works");
        }
    }

    /** Lettuce connects again by a timer on the loop. */
    private static void surviveKill(StatefulRedisConnection<String, String> connection) throws Exception {
        long id = connection.sync().clientId();
        connection.async().clientKill(io.lettuce.core.KillArgs.Builder.id(id).skipme(false));
        assertThat(connection.async().clientId().get(20, TimeUnit.SECONDS)).isGreaterThan(id);
    }
}
