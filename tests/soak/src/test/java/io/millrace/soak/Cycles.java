package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.net.ChildProcess;
import io.millrace.net.FdSource;
import io.millrace.net.FileWatch;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.net.Resolver;
import io.millrace.net.SignalSource;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixListener;
import io.millrace.net.UnixStream;
import io.millrace.poll.Channel;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Sender;
import io.millrace.poll.Source;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Open, register, poll, close, many times over, on one backend: 20,000 of each kind under {@code -Psoak}; in every build
 * a twentieth of that on epoll and a fortieth elsewhere. Descriptors and threads are back to the base line exactly;
 * native memory and heap are but for what the JVM itself takes meanwhile (end-7). What needs no system call to be opened
 * has ten times as many cycles; a {@code FileWatch} never has more than 2,000.
 *
 * <p>Native memory is what malloc has handed out, in all of its arenas, and what it has mapped apart: everything that a
 * binding, an arena or a direct buffer takes. What it has given back to its own lists does not count, as it would in the
 * resident set. Thread stacks are mapped by others; so threads are counted.
 */
@EnabledOnOs(OS.LINUX)
@SuppressWarnings({"restricted", "try"}) // mallinfo2 by FFM; sources close without throwing
abstract class Cycles {
    private static final boolean SOAK = Boolean.getBoolean("millrace.soak");
    private static final long NOISE_BYTES = 64 << 10;
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    /**
     * What the JVM itself, its compilers above all, may allocate meanwhile. A cycle that leaked 100 bytes would show in
     * a soak, 2 KiB in every build, 4 KiB where it has fewer cycles.
     */
    private static final long SLACK_BYTES = 2 << 20;
    /** The same of the heap, after a collection: a soak shows 40 bytes a cycle, every build 700, or 70 where cycles are cheap. */
    private static final long HEAP_SLACK_BYTES = 640 << 10;

    /** {@code struct mallinfo2}: ten sizes; the eighth is what is allocated, the fifth what is mapped apart. */
    private static final StructLayout MALLINFO =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));

    private static final MethodHandle MALLINFO2 = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("mallinfo2"), FunctionDescriptor.of(MALLINFO));

    private static final int CHEAP = 10;
    /** Linux takes more than ten milliseconds to close an inotify descriptor, because it waits until no processor uses it. */
    private static final int DEAR = 0;

    private static final int DEAR_CYCLES = 2_000;
    private static final Duration LONG = Duration.ofDays(1);

    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static final Resolver RESOLVER = Resolver.over(name -> List.of(InetAddress.getLoopbackAddress()));

    @TempDir
    static Path directory;

    /** A pipe's number that is adopted again and again; never ready. */
    private static int adoptedNumber;

    private static Pipe adopted;

    /** Which lives as long as the tests of one backend, so that what it does not forget shows. Several backends may be tested in one JVM. */
    private static Reactors manager;

    @BeforeAll
    static void openWhatIsShared() throws IOException {
        manager = Reactors.builder().reactors(1).withoutWatchdog().open();
        adopted = Net.natively().pipe();
        adoptedNumber = ((Descriptor) ((KernelHandle) adopted.source().handle()).system()).fd();
    }

    @AfterAll
    static void closeIt() {
        adopted.close();
        manager.close();
    }

    @FunctionalInterface
    interface Cycle {
        void run(Poll poll, Events events) throws Exception;
    }

    /**
     * A kind of source.
     *
     * @param name what it is
     * @param times how many cycles for each one of an ordinary kind; {@link #DEAR} for {@link #DEAR_CYCLES} at most
     * @param cycle opens one, has a poll look at it, and closes it
     */
    record Kind(String name, int times, Cycle cycle) {
        Kind(String name, Cycle cycle) {
            this(name, 1, cycle);
        }

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

    private final String backend;
    private final int cycles;

    Cycles(String backend) {
        this.backend = backend;
        this.cycles = SOAK ? 20_000 : backend.equals("epoll") ? 1_000 : 500;
    }

    static Stream<Kind> kinds() {
        return Stream.of(
                simple("TcpListener", poll -> Net.of(poll).listen(ANY)),
                new Kind("TcpStream", Cycles::connectOnce),
                simple("UdpSocket", poll -> Net.of(poll).udp(ANY)),
                simple("UnixListener", poll -> Net.of(poll).listen(UnixAddress.of(directory.resolve("cycle.sock")))),
                new Kind("UnixStream", Cycles::connectUnixOnce),
                new Kind("Pipe", (poll, events) -> {
                    try (Pipe pipe = Net.of(poll).pipe()) {
                        poll.register(pipe.source(), 1, Interest.READABLE, Trigger.EDGE);
                        poll.register(pipe.sink(), 2, Interest.WRITABLE, Trigger.LEVEL);
                        poll.poll(events, Duration.ZERO);
                    }
                }),
                new Kind("FdSource", Cycles::adoptOnce),
                simple(
                        "FileSource",
                        poll -> Net.of(poll)
                                .file(directory.resolve("cycle"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)),
                new Kind("FileWatch", DEAR, (poll, events) -> {
                    try (FileWatch watch = Net.of(poll).fileWatch()) {
                        watch.watch(directory);
                        poll.register(watch, 1, Interest.READABLE, Trigger.EDGE);
                        poll.poll(events, Duration.ZERO);
                    }
                }),
                simple("SignalSource", poll -> SignalSource.of("USR2")),
                new Kind("ChildProcess", Cycles::runChildOnce),
                simple("Lookup", poll -> RESOLVER.lookUp("localhost")),
                simple("Registration", poll -> new Registration()),
                simple("Channel", poll -> Channel.<String>bounded(8)),
                simple("Timer", poll -> Timer.<String>create()),
                new Kind("Registration with a delay", CHEAP, (poll, events) -> delayOnce(poll, events, true)),
                new Kind(
                        "Registration with a delay, deregistered",
                        CHEAP,
                        (poll, events) -> delayOnce(poll, events, false)),
                new Kind("Channel with a sender and messages", CHEAP, Cycles::sendOnce),
                new Kind("Timer with timeouts", CHEAP, Cycles::setTimeoutsOnce),
                new Kind("handler of a Notifier", CHEAP, (poll, events) -> {
                    try (Registration source = new Registration()) {
                        Notifier.current().setHandler(source, Interest.READABLE, readiness -> {});
                        source.setReadiness(Readiness.READABLE);
                        Notifier.current().doOneEvent(Duration.ZERO);
                    }
                }),
                new Kind("handler of a Notifier, for a pipe", (poll, events) -> {
                    try (Pipe pipe = Net.natively().pipe()) {
                        Notifier.current().setHandler(pipe.source(), Interest.READABLE, readiness -> {});
                        Notifier.current().doOneEvent(Duration.ZERO);
                    }
                }),
                new Kind("alarm", CHEAP, (poll, events) -> manager.cancel(manager.schedule(LONG, fired -> {}))),
                new Kind("readiness descriptor", CHEAP, (poll, events) -> {
                    ReadinessDescriptor descriptor = manager.register(new Registration());
                    descriptor.notifyWhenReadable(() -> {});
                    descriptor.close();
                }),
                new Kind("waitFor", (poll, events) -> {
                    try (Pipe pipe = Net.of(poll).pipe()) {
                        assertThat(Notifier.waitFor(pipe.sink(), Interest.WRITABLE, null)
                                        .isWritable())
                                .isTrue();
                    }
                }),
                new Kind("Notifier", (poll, events) -> {
                    try (Notifier notifier = Notifier.open(Poll.builder().backend(poll.backend()))) {
                        notifier.doOneEvent(Duration.ZERO);
                    }
                }),
                new Kind(
                        "Poll",
                        (poll, events) ->
                                Poll.builder().backend(poll.backend()).open().close()));
    }

    private static void delayOnce(Poll poll, Events events, boolean closed) {
        Registration registration = new Registration();
        poll.register(registration, 1, Interest.READABLE, Trigger.EDGE);
        registration.delayReadiness(Readiness.READABLE, LONG);
        poll.poll(events, Duration.ZERO);
        if (closed) {
            registration.close();
        } else {
            poll.deregister(registration);
        }
    }

    private static void sendOnce(Poll poll, Events events) {
        try (Channel<String> channel = Channel.unbounded();
                Sender<String> sender = channel.sender()) {
            poll.register(channel, 1, Interest.READABLE, Trigger.LEVEL);
            sender.send("message");
            poll.poll(events, Duration.ZERO);
        }
    }

    private static void setTimeoutsOnce(Poll poll, Events events) {
        try (Timer<String> timer = Timer.builder().slots(8).capacity(8).build()) {
            poll.register(timer, 1, Interest.READABLE, Trigger.LEVEL);
            timer.set(LONG, "kept");
            timer.cancel(timer.set(LONG, "cancelled"));
            timer.set(Duration.ZERO, "due");
            poll.poll(events, Duration.ZERO);
        }
    }

    /** A poll on channels refuses it, which leaves nothing behind either. */
    private static void adoptOnce(Poll poll, Events events) throws IOException {
        try (FdSource source = FdSource.adopt(adoptedNumber)) {
            if (poll.backend().equals("nio")) {
                assertThatThrownBy(() -> poll.register(source, 1, Interest.READABLE, Trigger.EDGE))
                        .isInstanceOf(IllegalArgumentException.class);
            } else {
                poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
            }
            poll.poll(events, Duration.ZERO);
        }
    }

    private static void connectUnixOnce(Poll poll, Events events) throws IOException {
        Net net = Net.of(poll);
        try (UnixListener listener = net.listen(UnixAddress.of(directory.resolve("stream.sock")));
                UnixStream client = net.connect(listener.address());
                UnixStream server = listener.accept()) {
            poll.register(client, 1, Interest.READABLE, Trigger.EDGE);
            poll.register(Objects.requireNonNull(server), 2, Interest.WRITABLE, Trigger.LEVEL);
            poll.poll(events, Duration.ZERO);
        }
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
    @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void nothingIsLeftBehind(Kind kind) throws Exception {
        try (Poll poll = Poll.builder().backend(backend).open()) {
            Events events = Events.withCapacity(8);
            int rounds = kind.times == DEAR ? Math.min(cycles, DEAR_CYCLES) : cycles * kind.times;
            for (int i = 0; i < rounds / 10; i++) {
                kind.cycle.run(poll, events);
            }
            long memoryBefore = settledBytes(poll, events);
            long descriptorsBefore = descriptors();
            Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
            long start = System.nanoTime();
            long heapBefore = Long.MAX_VALUE;
            for (int i = 0; i < rounds; i++) {
                kind.cycle.run(poll, events);
                if (i == rounds / 5) {
                    // Once more, in case that a compiler held much of it before: what leaks is more later, never less.
                    memoryBefore = Math.min(memoryBefore, settledBytes(poll, events));
                    heapBefore = heapBytes();
                }
            }
            long base = memoryBefore;
            long millis = (System.nanoTime() - start) / 1_000_000;
            assertThat(poll.size()).isZero();
            // The JDK's own threads close what is theirs, and compilers give back what they hold, in their own time.
            Await.until("the descriptors are back: " + descriptorsBefore, () -> {
                poll.poll(events, Duration.ZERO); // NIO closes a channel at the next select
                return descriptors() == descriptorsBefore;
            });
            Await.until("no thread is left", () -> threadsBefore.containsAll(helpers()));
            long left = awaitMemory(base);
            long heapLeft = awaitHeap(poll, events, heapBefore);
            System.out.printf(
                    "cycles: %,d of %s on %s in %,d ms; descriptors %d, native memory %+,d bytes, heap %+,d%n",
                    rounds, kind, backend, millis, descriptorsBefore, left, heapLeft);
        } finally {
            Notifier.current().close();
        }
    }

    /**
     * What is left of native memory above the base line, as soon as that is within the slack. What leaked never goes away. What a compiler holds does, when
     * it is done, which on a busy machine takes many seconds; so this looks seldom, for each look costs a collection.
     */
    private static long awaitMemory(long base) {
        long start = System.nanoTime();
        long left = nativeBytes() - base;
        while (left >= SLACK_BYTES) {
            assertThat(System.nanoTime() - start)
                    .as("native memory is not back: %,d bytes above the base line", left)
                    .isLessThan(PATIENCE.toNanos());
            LockSupport.parkNanos(200_000_000);
            left = nativeBytes() - base;
        }
        return left;
    }

    /** As {@link #awaitMemory}, of the heap. */
    private static long awaitHeap(Poll poll, Events events, long base) {
        long start = System.nanoTime();
        long left = heapBytes() - base;
        while (left >= HEAP_SLACK_BYTES) {
            assertThat(System.nanoTime() - start)
                    .as("the heap is not back: %,d bytes above the base line", left)
                    .isLessThan(PATIENCE.toNanos() / 6);
            LockSupport.parkNanos(200_000_000);
            poll.poll(events, Duration.ZERO);
            left = heapBytes() - base;
        }
        return left;
    }

    /** What is reachable. */
    private static long heapBytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** The measure itself: it sees small pieces while they are allocated, and sees them go. */
    @Test
    @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void whatIsNotGivenBackIsSeen() throws Exception {
        try (Poll poll = Poll.open()) {
            Events events = Events.withCapacity(1);
            long before = settledBytes(poll, events);
            try (Arena arena = Arena.ofConfined()) {
                for (int i = 0; i < 2_000; i++) {
                    arena.allocate(32 << 10);
                }
                assertThat(nativeBytes() - before).isGreaterThan(16 * SLACK_BYTES);
            }
            assertThat(awaitMemory(before)).isLessThan(SLACK_BYTES);
        }
    }

    /** The live threads, but for those that the JDK keeps for a while in case that it needs them again. */
    private static Set<Thread> helpers() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> thread.getName().equals("process reaper")
                || thread.getName().startsWith("ForkJoinPool")
                || thread.getName().startsWith("VirtualThread"));
        return threads;
    }

    /** The base line: what is allocated when nothing more is given back. A compiler at work holds megabytes, which would hide a leak. */
    private static long settledBytes(Poll poll, Events events) {
        poll.poll(events, Duration.ZERO);
        long least = nativeBytes();
        for (int unchanged = 0; unchanged < 3; ) {
            LockSupport.parkNanos(5_000_000);
            long now = nativeBytes();
            unchanged = now > least - NOISE_BYTES ? unchanged + 1 : 0;
            least = Math.min(least, now);
        }
        return least;
    }

    private static long descriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
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
