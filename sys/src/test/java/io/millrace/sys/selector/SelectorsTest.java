package io.millrace.sys.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Family;
import io.millrace.sys.KernelKey;
import io.millrace.sys.NioHandle;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Posix;
import io.millrace.sys.posix.Signals;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a poll relies on and cannot see: each selector alone, without the registry that keeps it from being misused. */
@EnabledOnOs(OS.LINUX)
@DisplayName("A selector")
class SelectorsTest {
    private static final long MILLI = 1_000_000;
    private static final long LONG = 30_000 * MILLI;
    private static final long SHORT = 30_000_000L;
    private static final int SIGURG = 23;

    private final List<Descriptor> descriptors = new ArrayList<>();
    private final List<Pipe> pipes = new ArrayList<>();
    private Selector selector;

    private void open(String backend) throws IOException {
        selector = switch (backend) {
            case "epoll" -> EpollSelector.open();
            case "poll" -> PollSelector.open();
            default -> NioSelector.open();
        };
    }

    @AfterEach
    void close() throws IOException {
        if (selector != null) {
            selector.close();
        }
        descriptors.forEach(Descriptor::close);
        for (Pipe pipe : pipes) {
            pipe.source().close();
            pipe.sink().close();
        }
    }

    /** The reading and the writing end. */
    private Descriptor[] pipe() {
        int[] ends = new int[2];
        try (CallState state = CallState.borrow()) {
            assertThat(Posix.pipe(state, ends)).isZero();
        }
        Descriptor[] pipe = {new Descriptor(ends[0], true), new Descriptor(ends[1], true)};
        descriptors.addAll(List.of(pipe));
        return pipe;
    }

    /** Nothing to read. */
    private SystemHandle quiet() throws IOException {
        if (selector.family() == Family.DESCRIPTOR) {
            return pipe()[0];
        }
        Pipe pipe = Pipe.open();
        pipes.add(pipe);
        pipe.source().configureBlocking(false);
        return new NioHandle(pipe.source());
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll"})
    @DisplayName("tip-11: whose thread gets a signal ends its wait with nothing, and not with an exception")
    void aSignalEndsTheWait(String backend) throws Throwable {
        open(backend);

        assertThat(interrupted(() -> selector.await(LONG, 8))).isZero();
    }

    @Test
    @DisplayName(
            "tip-11, tip-12: a wait for one handle by a thread that gets a signal ends with nothing, and not with an exception")
    void aSignalEndsTheWaitForOne() throws Throwable {
        Descriptor reader = pipe()[0];

        assertThat(interrupted(() -> SingleWait.await(reader, Bits.READABLE, LONG)))
                .isZero();
    }

    @Test
    @DisplayName("tip-12: a hang-up outside the interest does not end a wait for one handle before its time")
    void aHangUpOutsideTheInterest() throws IOException {
        Descriptor[] pipe = pipe();
        pipe[1].close();
        assertThat(SingleWait.await(pipe[0], Bits.READABLE, LONG)).isNotZero();

        long begin = System.nanoTime();
        assertThat(SingleWait.await(pipe[0], Bits.PRIORITY, SHORT)).isZero();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT);
    }

    @Test
    @DisplayName("tip-12: nor does an interrupt with NIO, and it is still there afterwards")
    void anInterruptDoesNotEndTheWaitForOne() throws IOException {
        open("nio");
        SystemHandle quiet = quiet();
        Thread.currentThread().interrupt();

        long begin = System.nanoTime();
        int ready = SingleWait.await(quiet, Bits.READABLE, SHORT);
        long took = System.nanoTime() - begin;
        assertThat(Thread.interrupted()).isTrue();
        assertThat(ready).isZero();
        assertThat(took).isGreaterThanOrEqualTo(SHORT);
    }

    /** Runs a call on a thread that gets signals until it is over. The JVM's handler does not stand in the way: no wait is begun again after one. */
    private static int interrupted(Callable<Integer> call) throws Throwable {
        MethodHandle gettid = Native.link("gettid", 0);
        MethodHandle tgkill = Native.link("tgkill", 3);
        AtomicLong thread = new AtomicLong();
        FutureTask<Integer> result = new FutureTask<>(() -> {
            try (CallState state = CallState.borrow()) {
                thread.set((long) gettid.invokeExact(state.segment));
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            return call.call();
        });
        Signals.Listening listening = Signals.listen("URG", () -> {});
        try (CallState state = CallState.borrow()) {
            Thread waiter = Thread.ofPlatform().daemon().start(result);
            long process = ProcessHandle.current().pid();
            while (waiter.isAlive()) {
                if (thread.get() != 0 && !result.isDone()) {
                    long ignored = (long) tgkill.invokeExact(state.segment, process, thread.get(), (long) SIGURG);
                }
                LockSupport.parkNanos(MILLI);
            }
        } finally {
            listening.close();
        }
        return result.get(1, TimeUnit.SECONDS);
    }

    /** How many of so many events are not the selector's own: epoll shows its wake-up, and the poll passes over it. */
    private long sources(int found) {
        return IntStream.range(0, found)
                .filter(event -> !KernelKey.isWake(selector.key(event)))
                .count();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("tip-5: a wake-up ends one wait, and not the next")
    void aWakeEndsOneWait(String backend) throws IOException {
        open(backend);
        selector.wake();
        selector.wake();
        assertThat(sources(selector.await(-1, 8))).isZero();

        long start = System.nanoTime();
        assertThat(selector.await(20 * MILLI, 8)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20 * MILLI);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("tip-5: a wake-up before the wait is kept, whatever is removed or added meanwhile")
    void controlKeepsAWake(String backend) throws IOException {
        open(backend);
        SystemHandle first = quiet();
        selector.add(first, KernelKey.of(1, 0), Bits.READABLE, Bits.LEVEL);
        selector.wake();
        selector.remove(first, KernelKey.of(1, 0));
        selector.add(first, KernelKey.of(2, 0), Bits.READABLE, Bits.LEVEL);

        long start = System.nanoTime();
        assertThat(sources(selector.await(LONG, 8))).isZero();
        assertThat(System.nanoTime() - start).isLessThan(LONG);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll"})
    @DisplayName("mio-4, mio-10: finds whatever was asked for last, though others have left and made room")
    void othersLeave(String backend) throws IOException {
        open(backend);
        List<Descriptor[]> ends = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Descriptor[] pipe = pipe();
            ends.add(pipe);
            selector.add(pipe[1], KernelKey.of(1, i), 0, Bits.LEVEL);
        }
        for (int i = 0; i < 100; i += 2) {
            selector.remove(ends.get(i)[1], KernelKey.of(1, i));
        }
        for (int i = 1; i < 100; i += 2) {
            selector.modify(ends.get(i)[1], KernelKey.of(1, i), Bits.WRITABLE, Bits.LEVEL);
        }

        int found = selector.await(0, 200);
        List<Integer> indexes = new ArrayList<>();
        for (int i = 0; i < found; i++) {
            indexes.add(KernelKey.index(selector.key(i)));
        }
        List<Integer> odd = new ArrayList<>();
        for (int i = 1; i < 100; i += 2) {
            odd.add(i);
        }
        assertThat(indexes).containsExactlyInAnyOrderElementsOf(odd);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll"})
    @DisplayName("sys: refuses a descriptor that is closing, and holds no use of one that the system refused")
    void aRefusedDescriptorIsNotHeld(String backend) throws IOException {
        open(backend);
        Descriptor closed = pipe()[0];
        closed.close();
        assertThatThrownBy(() -> selector.add(closed, KernelKey.of(1, 0), Bits.READABLE, Bits.LEVEL))
                .isInstanceOf(ClosedChannelException.class);

        Descriptor once = pipe()[0];
        selector.add(once, KernelKey.of(1, 1), Bits.READABLE, Bits.LEVEL);
        assertThatThrownBy(() -> selector.add(once, KernelKey.of(1, 2), Bits.READABLE, Bits.LEVEL))
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining("EEXIST");
        selector.remove(once, KernelKey.of(1, 1));
        assertThat(once.toString()).contains("0 in use");
    }

    @Test
    @DisplayName("mio-17: closed with registrations, poll(2) gives their descriptors back")
    void theUsesEndWithPoll() throws IOException {
        open("poll");
        Descriptor reader = pipe()[0];
        selector.add(reader, KernelKey.of(1, 0), Bits.READABLE, Bits.LEVEL);

        selector.close();
        selector = null;

        assertThat(reader.toString()).contains("0 in use");
    }

    @Test
    @DisplayName("tip-5: a wake-up after the close does not write into the next file of the same number")
    void aLateWakeReachesNobody() throws ErrnoException {
        WakeFd wake = WakeFd.open();
        int number = wake.fd();
        wake.close();
        WakeFd next = WakeFd.open();
        assertThat(next.fd()).as("the number is used again").isEqualTo(number);
        try {
            wake.wake();
            Descriptor reader = new Descriptor(next.fd(), true);
            assertThat(SingleWait.await(reader, Bits.READABLE, 0)).isZero();
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            next.close();
        }
    }
}
