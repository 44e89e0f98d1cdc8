package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.FdSource;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.net.UnixAddress;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.OsHandle;
import io.millrace.sys.Descriptor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("mr-7: a source that is collected without close is closed, and reported once with where it was made")
class LeakTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    @TempDir
    static Path directory;

    private final Logger logger = Logger.getLogger("io.millrace");
    private final List<LogRecord> reports = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord log) {
            if (log.getMessage().startsWith("leak: ")) {
                reports.add(log);
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    record Kind(String name, Callable<Source> maker) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Kind> kinds() {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        return Stream.of(
                new Kind("TcpListener", () -> Net.natively().listen(any)),
                new Kind("UdpSocket", () -> Net.natively().udp(any)),
                new Kind("Pipe.Reader", () -> {
                    Pipe pipe = Net.natively().pipe();
                    pipe.sink().close();
                    return pipe.source();
                }),
                new Kind("UnixListener", () -> Net.natively().listen(UnixAddress.of(directory.resolve("leak.sock")))),
                new Kind("FdSource", () -> FdSource.adopt(0)),
                new Kind("FileWatch", () -> Net.natively().fileWatch()));
    }

    @BeforeEach
    void listen() {
        System.setProperty("millrace.leaks", "all");
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
    }

    @AfterEach
    void silence() {
        System.clearProperty("millrace.leaks");
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aDroppedSourceIsClosedAndReportedOnce(Kind kind) throws Exception {
        try (Poll poll = Poll.open()) {
            Events events = Events.withCapacity(4);
            Descriptor descriptor = makeAndDrop(kind, poll);
            long start = System.nanoTime();
            while (!descriptor.isClosing() || reports.isEmpty()) {
                assertThat(System.nanoTime() - start).as("not collected").isLessThan(DEADLINE.toNanos());
                System.gc();
                LockSupport.parkNanos(1_000_000);
                poll.poll(events, Duration.ZERO); // whoever polls sweeps
            }
            System.gc();
            poll.poll(events, Duration.ZERO);
            assertThat(poll.size()).as("deregistered too").isZero();
            assertThat(descriptor.toString()).contains("0 in use");
        }
        assertThat(reports).hasSize(1);
        LogRecord report = reports.getFirst();
        assertThat(report.getMessage()).contains(kind.name).contains("without close()");
        assertThat(report.getThrown().getStackTrace())
                .as("where it was made")
                .anyMatch(frame -> frame.getClassName().contains("LeakTest"));
    }

    /** In a method of its own, so that nothing on the stack keeps the source alive. */
    private static Descriptor makeAndDrop(Kind kind, Poll poll) throws Exception {
        Source source = kind.maker.call();
        poll.register(source, 1, Interest.NONE, Trigger.EDGE);
        return (Descriptor) ((OsHandle) source.handle()).system();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aClosedSourceIsNotReported(Kind kind) throws Exception {
        makeAndClose(kind);
        for (int i = 0; i < 3; i++) {
            System.gc();
            makeAndClose(kind); // making one sweeps
        }
        assertThat(reports).isEmpty();
    }

    private static void makeAndClose(Kind kind) throws Exception {
        ((AutoCloseable) kind.maker.call()).close();
    }
}
