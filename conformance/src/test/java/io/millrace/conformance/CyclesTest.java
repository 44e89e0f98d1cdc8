package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.ChildProcess;
import io.millrace.net.FdSource;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.net.SignalSource;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.net.UnixAddress;
import io.millrace.poll.Channel;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Poll;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import io.millrace.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Open, register, poll, close, many times over: 20,000 of each kind under {@code -Psoak}, a tenth of that in every build. Descriptors are back to
 * the base line exactly, and memory does not grow with the cycles.
 */
@DisplayName("mr-6, mr-7: cycles of open and close leave nothing behind")
@EnabledOnOs(OS.LINUX)
@SuppressWarnings({"restricted", "try"}) // mallinfo2 by FFM; sources close without throwing
class CyclesTest {
    private static final int CYCLES = Boolean.getBoolean("millrace.soak") ? 20_000 : 2_000;
    private static final int WARM_UP = 200;
    /** What the JVM itself, its compilers above all, may allocate meanwhile. A cycle that leaked 400 bytes would show in a soak, 4 KiB in every build. */
    private static final long SLACK_BYTES = 8 << 20;

    /** {@code struct mallinfo2}: ten sizes; the eighth is what is allocated, the fifth what is mapped apart. */
    private static final StructLayout MALLINFO =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));

    private static final MethodHandle MALLINFO2 = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("mallinfo2"), FunctionDescriptor.of(MALLINFO));

    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    static Path directory;

    @FunctionalInterface
    interface Cycle {
        void run(Poll poll, Events events) throws Exception;
    }

    record Kind(String name, Cycle cycle) {
        @Override
        public String toString() {
            return name;
        }
    }

    @FunctionalInterface
    interface Maker<S> {
        S make(Poll poll) throws Exception;
    }

    private static <S extends Source & AutoCloseable> Kind simple(String name, Maker<S> maker) {
        return new Kind(name, (poll, events) -> {
            try (S source = maker.make(poll)) {
                poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
                poll.poll(events, Duration.ZERO);
            }
        });
    }

    static Stream<Kind> kinds() {
        return Stream.of(
                simple("TcpListener", poll -> Net.of(poll).listen(ANY)),
                simple("UdpSocket", poll -> Net.of(poll).udp(ANY)),
                simple("UnixListener", poll -> Net.of(poll).listen(UnixAddress.of(directory.resolve("cycle.sock")))),
                simple(
                        "FileSource",
                        poll -> Net.of(poll)
                                .file(directory.resolve("cycle"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)),
                simple("FileWatch", poll -> Net.of(poll).fileWatch()),
                simple("FdSource", poll -> FdSource.adopt(0)),
                simple("SignalSource", poll -> SignalSource.of("USR2")),
                simple("Registration", poll -> new Registration()),
                simple("Channel", poll -> Channel.<String>bounded(8)),
                simple("Timer", poll -> Timer.<String>create()),
                new Kind("TcpStream", CyclesTest::connectOnce),
                new Kind("Pipe", (poll, events) -> {
                    try (Pipe pipe = Net.of(poll).pipe()) {
                        poll.register(pipe.source(), 1, Interest.READABLE, Trigger.EDGE);
                        poll.register(pipe.sink(), 2, Interest.WRITABLE, Trigger.LEVEL);
                        poll.poll(events, Duration.ZERO);
                    }
                }),
                new Kind("ChildProcess", CyclesTest::runChildOnce),
                new Kind("Notifier", (poll, events) -> {
                    try (Notifier notifier = Notifier.current()) {
                        notifier.doOneEvent(Duration.ZERO);
                    }
                }),
                new Kind(
                        "Poll",
                        (poll, events) ->
                                Poll.builder().backend(poll.backend()).open().close()));
    }

    private static void connectOnce(Poll poll, Events events) throws IOException {
        Net net = Net.of(poll);
        try (TcpListener listener = net.listen(ANY);
                TcpStream client = net.connect(listener.localAddress())) {
            poll.register(client, 1, Interest.WRITABLE, Trigger.EDGE);
            poll.register(listener, 2, Interest.READABLE, Trigger.LEVEL);
            boolean accepted = false;
            while (!accepted || !client.finishConnect()) {
                poll.poll(events, Duration.ofSeconds(10));
                try (TcpStream server = listener.accept()) {
                    accepted |= server != null;
                }
            }
        }
    }

    private static void runChildOnce(Poll poll, Events events) throws IOException {
        try (ChildProcess child = Net.of(poll).process("true").start()) {
            poll.register(child, 1, Interest.READABLE, Trigger.ONESHOT);
            ChildProcess.Exit exit = null;
            while (exit == null) {
                poll.poll(events, Duration.ofSeconds(10));
                exit = child.poll();
            }
            assertThat(exit.code()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void nothingIsLeftBehind(Kind kind) throws Exception {
        try (Poll poll = Poll.builder().backend("epoll").open()) {
            Events events = Events.withCapacity(8);
            int cycles =
                    kind.name.equals("ChildProcess") ? CYCLES / 10 : CYCLES; // a child costs a thousand times as much
            for (int i = 0; i < WARM_UP; i++) {
                kind.cycle.run(poll, events);
            }
            long descriptorsBefore = descriptors();
            long memoryBefore = nativeBytes();
            for (int i = 0; i < cycles; i++) {
                kind.cycle.run(poll, events);
            }
            assertThat(descriptors()).isEqualTo(descriptorsBefore);
            assertThat(poll.size()).isZero();
            // Cleaners and compilers give back what they hold in their own time.
            Await.until("native memory is back", () -> nativeBytes() - memoryBefore < SLACK_BYTES);
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /** What malloc has handed out; after a collection, so that what only waits for one does not count. */
    private static long nativeBytes() {
        System.gc();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = (MemorySegment) MALLINFO2.invokeExact((SegmentAllocator) arena);
            return info.getAtIndex(ValueLayout.JAVA_LONG, 7) + info.getAtIndex(ValueLayout.JAVA_LONG, 4);
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }
}
