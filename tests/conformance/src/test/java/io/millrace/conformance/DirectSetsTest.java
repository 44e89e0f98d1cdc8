package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.server.DirectServer;
import io.millrace.server.TcpServer;
import io.millrace.task.FuturesUnordered;
import io.millrace.task.Outcome;
import io.millrace.task.StreamsUnordered;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Sets of futures and streams in conversations")
@Timeout(30)
class DirectSetsTest {
    private final List<CompletableFuture<String>> futures =
            List.of(new CompletableFuture<>(), new CompletableFuture<>());
    private final CountDownLatch waits = new CountDownLatch(1);

    static Stream<Arguments> places() {
        return Stream.of("epoll", "poll", "nio")
                .flatMap(backend -> Stream.of(true, false).map(onLoops -> Arguments.of(backend, onLoops)));
    }

    private static String carrier() {
        String text = Thread.currentThread().toString();
        return text.substring(text.indexOf('@') + 1);
    }

    /** What a conversation gets from a set. */
    private interface Gather {
        String all() throws InterruptedException;
    }

    private void parks(String backend, boolean onLoops, Gather gather) throws Exception {
        try (Reactors reactors = Reactors.builder()
                        .reactors(1)
                        .backend(backend)
                        .withoutWatchdog()
                        .name("the-loop")
                        .open();
                DirectServer server =
                        DirectServer.start(TcpServer.builder().manager(reactors).loopThreads(onLoops), socket -> {
                            if ("wait".equals(socket.readLine(100))) {
                                waits.countDown();
                                socket.write(gather.all() + "\n");
                                socket.write(carrier() + "\n");
                            } else {
                                socket.write("served\n");
                            }
                        });
                Socket first = connect(server);
                Socket second = connect(server)) {
            first.getOutputStream().write("wait\n".getBytes(UTF_8));
            assertThat(waits.await(20, TimeUnit.SECONDS)).isTrue();
            second.getOutputStream().write("hello\n".getBytes(UTF_8));
            assertThat(reader(second).readLine()).isEqualTo("served");
            futures.get(1).complete("two");
            futures.get(0).complete("one");
            BufferedReader reader = reader(first);
            assertThat(reader.readLine()).contains("one", "two");
            assertThat(reader.readLine()).contains(onLoops ? "the-loop" : "ForkJoinPool");
        }
    }

    private static Socket connect(DirectServer server) throws IOException {
        Socket socket = new Socket();
        socket.connect(server.address());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-5 the next result of a set of futures is waited for on the loop, which stays free")
    void futures(String backend, boolean onLoops) throws Exception {
        parks(backend, onLoops, () -> {
            try (FuturesUnordered<String> set = FuturesUnordered.create()) {
                futures.forEach(set::add);
                StringBuilder all = new StringBuilder();
                for (Outcome<String> next = set.next(); next != null; next = set.next()) {
                    all.append(next);
                }
                return all.toString();
            }
        });
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-5 the next item of a set of streams is waited for on the loop, which stays free")
    void streams(String backend, boolean onLoops) throws Exception {
        parks(backend, onLoops, () -> {
            try (StreamsUnordered<Object> set = StreamsUnordered.create()) {
                for (CompletableFuture<String> each : futures) {
                    FuturesUnordered<Object> stream = FuturesUnordered.create();
                    stream.add(each);
                    set.add(stream);
                }
                StringBuilder all = new StringBuilder();
                for (Outcome<Object> next = set.next(); next != null; next = set.next()) {
                    all.append(next);
                }
                return all.toString();
            }
        });
    }
}
