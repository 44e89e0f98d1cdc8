package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.ChildProcess;
import io.millrace.net.FdSource;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.net.TcpListener;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixListener;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.NioHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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

    @FunctionalInterface
    interface Maker {
        Source make(Net net) throws Exception;
    }

    record Kind(String name, Maker maker) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    static Stream<Arguments> kindsOnEveryBackend() {
        return Stream.of("epoll", "poll", "nio")
                .flatMap(backend -> kinds()
                        // A poll on channels takes no descriptor, so none is registered there to be dropped.
                        .filter(kind -> !backend.equals("nio") || !kind.name.equals("FdSource"))
                        .map(kind -> Arguments.of(backend, kind)));
    }

    private static Stream<Kind> kinds() {
        return Stream.of(
                new Kind("TcpListener", net -> net.listen(ANY)),
                new Kind("TcpStream", net -> {
                    try (TcpListener listener = net.listen(ANY)) {
                        return net.connect(listener.localAddress());
                    }
                }),
                new Kind("UdpSocket", net -> net.udp(ANY)),
                new Kind("UnixListener", net -> net.listen(UnixAddress.of(directory.resolve("leak.sock")))),
                new Kind("UnixStream", net -> {
                    try (UnixListener listener = net.listen(UnixAddress.of(directory.resolve("stream.sock")))) {
                        return net.connect(listener.address());
                    }
                }),
                new Kind("Pipe.Reader", net -> {
                    Pipe pipe = net.pipe();
                    pipe.sink().close();
                    return pipe.source();
                }),
                new Kind("Pipe.Writer", net -> {
                    Pipe pipe = net.pipe();
                    pipe.source().close();
                    return pipe.sink();
                }),
                new Kind("FdSource", net -> FdSource.adopt(0)),
                new Kind(
                        "FileSource",
                        net -> net.file(
                                directory.resolve("file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)),
                new Kind("FileWatch", Net::fileWatch),
                new Kind(
                        "ChildProcess",
                        net -> net.process("true")
                                .stdin(ChildProcess.Stdio.DISCARD)
                                .stdout(ChildProcess.Stdio.DISCARD)
                                .stderr(ChildProcess.Stdio.DISCARD)
                                .start()));
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
    @MethodSource("kindsOnEveryBackend")
    void aDroppedSourceIsClosedAndReportedOnce(String backend, Kind kind) throws Exception {
        try (Poll poll = Poll.builder().backend(backend).open()) {
            Events events = Events.withCapacity(4);
            BooleanSupplier closed = makeAndDrop(kind, poll);
            long start = System.nanoTime();
            while (!closed.getAsBoolean() || reports.isEmpty()) {
                assertThat(System.nanoTime() - start).as("not collected").isLessThan(DEADLINE.toNanos());
                System.gc();
                LockSupport.parkNanos(1_000_000);
                poll.poll(events, Duration.ZERO); // whoever polls sweeps
            }
            poll.poll(events, Duration.ZERO);
            assertThat(poll.size()).as("deregistered too").isZero();
        }
        assertThat(reports).hasSize(1);
        LogRecord report = reports.getFirst();
        assertThat(report.getMessage()).contains(kind.name).contains("without close()");
        assertThat(report.getThrown().getStackTrace())
                .as("where it was made")
                .anyMatch(frame -> frame.getClassName().contains("LeakTest"));
    }

    /** In a method of its own, so that nothing on the stack keeps the source alive. Answers whether the system's part of it is closed. */
    private static BooleanSupplier makeAndDrop(Kind kind, Poll poll) throws Exception {
        Source source = kind.maker.make(Net.of(poll));
        poll.register(source, 1, Interest.NONE, Trigger.EDGE);
        if (!(source.handle() instanceof KernelHandle handle)) {
            return () -> poll.size() == 0; // in software
        }
        return switch (handle.system()) {
            case Descriptor descriptor ->
                () -> descriptor.isClosing() && descriptor.toString().contains("0 in use");
            case NioHandle channel -> () -> !channel.channel().isOpen();
        };
    }

    @ParameterizedTest
    @MethodSource("kindsOnEveryBackend")
    void aClosedSourceIsNotReported(String backend, Kind kind) throws Exception {
        try (Poll poll = Poll.builder().backend(backend).open()) {
            makeAndClose(kind, poll);
            System.gc();
            makeAndClose(kind, poll); // making one sweeps
        }
        assertThat(reports).isEmpty();
    }

    private static void makeAndClose(Kind kind, Poll poll) throws Exception {
        ((AutoCloseable) kind.maker.make(Net.of(poll))).close();
    }
}
