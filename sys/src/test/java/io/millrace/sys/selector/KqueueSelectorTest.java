package io.millrace.sys.selector;

import static io.millrace.sys.Bits.EDGE;
import static io.millrace.sys.Bits.ERROR;
import static io.millrace.sys.Bits.LEVEL;
import static io.millrace.sys.Bits.ONESHOT;
import static io.millrace.sys.Bits.READABLE;
import static io.millrace.sys.Bits.READ_CLOSED;
import static io.millrace.sys.Bits.WRITABLE;
import static io.millrace.sys.Bits.WRITE_CLOSED;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.KernelKey;
import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The kqueue backend over real descriptors; on Linux over our emulation, {@code src/test/native/kqueue_shim.c}. */
@DisplayName("tip-1: the kqueue selector")
@Timeout(20)
class KqueueSelectorTest {
    private static final int BOTH = READABLE | WRITABLE;
    private static final long KEY = KernelKey.of(1, 7);
    private static final long MILLI = 1_000_000;

    private final CallState state = CallState.borrow();
    private final List<Descriptor> opened = new ArrayList<>();
    private Selector selector;

    @BeforeAll
    static void emulate() {
        assumeTrue(
                Os.current().isBsd() || KqueueShim.install(),
                () -> KqueueShim.built().reason());
    }

    @BeforeEach
    void open() throws IOException {
        selector = KqueueSelector.open();
    }

    @AfterEach
    void close() {
        selector.close();
        opened.forEach(Descriptor::close);
    }

    @Nested
    class Triggers {
        @Test
        void levelReportsInEveryWaitWhileReady() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            assertNothing();
            write(pipe[1]);
            for (int i = 0; i < 5; i++) {
                assertOne(READABLE);
            }
            read(pipe[0]);
            assertNothing();
        }

        @Test
        void edgeReportsOncePerTransition() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[0], KEY, READABLE, EDGE);
            write(pipe[1]);
            assertOne(READABLE);
            assertNothing();
            write(pipe[1]);
            assertOne(READABLE);
            assertNothing();
        }

        @Test
        void edgeReportsAgainAfterModify() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[0], KEY, READABLE, EDGE);
            write(pipe[1]);
            assertOne(READABLE);
            for (int i = 0; i < 3; i++) {
                selector.modify(pipe[0], KEY, READABLE, EDGE);
                assertOne(READABLE);
                assertNothing();
            }
        }

        @Test
        void oneShotReportsOnceUntilModify() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[0], KEY, READABLE, ONESHOT);
            write(pipe[1]);
            assertOne(READABLE);
            write(pipe[1]);
            assertNothing();
            selector.modify(pipe[0], KEY, READABLE, ONESHOT);
            assertOne(READABLE);
            assertNothing();
        }

        @Test
        void oneShotWithTwoReadyInterestsReportsOnce() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            selector.add(pair[0], KEY, BOTH, ONESHOT);
            assertOne(BOTH);
            assertNothing();
        }

        @Test
        void oneShotWithTwoInterestsReportsOnceThoughTheyComeInDifferentWaits() throws IOException {
            Descriptor[] pair = socketPair();
            selector.add(pair[0], KEY, BOTH, ONESHOT);
            assertOne(WRITABLE);
            write(pair[1]);
            assertNothing();
            selector.modify(pair[0], KEY, BOTH, ONESHOT);
            assertOne(BOTH);
            assertNothing();
        }

        @Test
        void oneShotWithTwoInterestsReportsOnceThoughAWaitTakesOneKevent() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            selector.add(pair[0], KEY, BOTH, ONESHOT);
            assertThat(selector.await(0, 1)).isEqualTo(1);
            assertThat(selector.await(0, 1)).isZero();
            assertNothing();
        }

        /** The event of a former arming must not use up the present one. */
        @Test
        void oneShotThatIsModifiedWhileItsEventIsOnItsWayIsNotLost() throws Exception {
            Descriptor[] pair = socketPair();
            Semaphore readable = new Semaphore(0);
            AtomicBoolean stop = new AtomicBoolean();
            selector.add(pair[0], KEY, 0, ONESHOT);
            FutureTask<Void> waiting = elsewhere(() -> {
                while (!stop.get()) {
                    if (selector.await(-1, 8) == 1 && (selector.readiness(0) & READABLE) != 0) {
                        readable.release();
                    }
                }
                return null;
            });
            try {
                for (int i = 0; i < 2000; i++) {
                    selector.modify(pair[0], KEY, BOTH, ONESHOT); // writable: an event comes at once
                    selector.modify(pair[0], KEY, READABLE, ONESHOT);
                    write(pair[1]);
                    assertThat(readable.tryAcquire(5, SECONDS))
                            .as("round %d", i)
                            .isTrue();
                    read(pair[0]);
                }
            } finally {
                stop.set(true);
                selector.wake();
                waiting.get(10, SECONDS);
            }
        }

        @Test
        void modifyFromOneShotReportsAnInterestThatWasSilenced() throws IOException {
            Descriptor[] pair = socketPair();
            selector.add(pair[0], KEY, BOTH, ONESHOT);
            assertOne(WRITABLE);
            selector.modify(pair[0], KEY, READABLE, ONESHOT);
            assertNothing();
            write(pair[1]);
            assertOne(READABLE);
            assertNothing();
        }
    }

    @Nested
    class Control {
        @Test
        void modifyReplacesTheInterest() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            selector.add(pair[0], KEY, READABLE, LEVEL);
            assertOne(READABLE);
            selector.modify(pair[0], KEY, WRITABLE, LEVEL);
            assertOne(WRITABLE);
            selector.modify(pair[0], KEY, BOTH, LEVEL);
            assertOne(BOTH);
            selector.modify(pair[0], KEY, 0, LEVEL);
            assertNothing();
            selector.modify(pair[0], KEY, READABLE, LEVEL);
            assertOne(READABLE);
        }

        @Test
        void modifyReplacesTheTrigger() throws IOException {
            Descriptor[] pipe = pipe();
            write(pipe[1]);
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            assertOne(READABLE);
            selector.modify(pipe[0], KEY, READABLE, EDGE);
            assertOne(READABLE);
            assertNothing();
            selector.modify(pipe[0], KEY, READABLE, ONESHOT);
            assertOne(READABLE);
            write(pipe[1]);
            assertNothing();
            selector.modify(pipe[0], KEY, READABLE, LEVEL);
            assertOne(READABLE);
            assertOne(READABLE);
        }

        @Test
        void removeSilencesBothFiltersAndReleasesTheUse() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            selector.add(pair[0], KEY, BOTH, LEVEL);
            assertOne(BOTH);
            assertThat(pair[0]).hasToString("fd " + pair[0].fd() + " (1 in use)");
            selector.remove(pair[0], KEY);
            assertNothing();
            assertThat(pair[0]).hasToString("fd " + pair[0].fd() + " (0 in use)");
        }

        @Test
        void removeOfWhatIsNotRegisteredChangesNothing() throws IOException {
            Descriptor[] pipe = pipe();
            write(pipe[1]);
            selector.remove(pipe[0], KEY);
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            selector.remove(pipe[0], KernelKey.of(2, 7));
            assertOne(READABLE);
        }

        @Test
        void aDescriptorClosedWhileRegisteredIsClosedByRemove() throws IOException {
            Descriptor[] pair = socketPair();
            selector.add(pair[0], KEY, BOTH, LEVEL);
            pair[0].close();
            assertThat(Posix.probe(pair[0].fd())).isNotNegative();
            selector.remove(pair[0], KEY);
            assertThat(Posix.probe(pair[0].fd())).isEqualTo(-Errno.EBADF.code());
            assertNothing();
        }

        @Test
        void aClosedDescriptorIsRefused() {
            Descriptor[] pipe = pipe();
            pipe[0].close();
            assertThatThrownBy(() -> selector.add(pipe[0], KEY, READABLE, LEVEL))
                    .isInstanceOf(ClosedChannelException.class);
        }

        @Test
        void aNumberThatIsNotOpenIsRefusedAlsoWithAnEmptyInterest() {
            Descriptor foreign = new Descriptor(987_654, false);
            for (int interest : new int[] {READABLE, WRITABLE, BOTH, 0}) {
                assertThatThrownBy(() -> selector.add(foreign, KEY, interest, LEVEL))
                        .isInstanceOfSatisfying(
                                ErrnoException.class,
                                e -> assertThat(e.is(Errno.EBADF)).isTrue());
                assertThat(foreign).hasToString("fd 987654 (0 in use)");
            }
        }

        @Test
        void aNumberThatIsRegisteredIsRefusedAndStaysRegistered() throws IOException {
            Descriptor[] pipe = pipe();
            write(pipe[1]);
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            Descriptor same = new Descriptor(pipe[0].fd(), false);
            assertThatThrownBy(() -> selector.add(same, KernelKey.of(1, 8), WRITABLE, LEVEL))
                    .isInstanceOfSatisfying(
                            ErrnoException.class,
                            e -> assertThat(e.is(Errno.EEXIST)).isTrue());
            assertThat(same).hasToString("fd " + pipe[0].fd() + " (0 in use)");
            assertOne(READABLE);
        }

        @Test
        void aFileThatTheKernelRefusesIsRefusedAndReleased() throws IOException {
            assumeTrue(Os.current() == Os.LINUX, "a kqueue takes regular files");
            Descriptor file = regularFile();
            for (int interest : new int[] {READABLE, WRITABLE, BOTH}) {
                assertThatThrownBy(() -> selector.add(file, KEY, interest, LEVEL))
                        .isInstanceOfSatisfying(
                                ErrnoException.class,
                                e -> assertThat(e.is(Errno.EPERM)).isTrue());
            }
            assertThat(file).hasToString("fd " + file.fd() + " (0 in use)");
            assertThatThrownBy(() -> selector.modify(file, KEY, READABLE, LEVEL))
                    .as("nothing was registered")
                    .isInstanceOf(ErrnoException.class);
        }

        @Test
        void aRefusedModifyIsReportedAndChangesNothing() throws IOException {
            assumeTrue(Os.current() == Os.LINUX, "a kqueue takes regular files");
            Descriptor file = regularFile();
            selector.add(file, KEY, 0, LEVEL);
            assertThatThrownBy(() -> selector.modify(file, KEY, BOTH, LEVEL))
                    .isInstanceOfSatisfying(
                            ErrnoException.class,
                            e -> assertThat(e.is(Errno.EPERM)).isTrue());
            assertNothing();
            selector.modify(file, KEY, 0, EDGE);
            selector.remove(file, KEY);
            assertThat(file).hasToString("fd " + file.fd() + " (0 in use)");
        }

        @Test
        void aNumberThatSomebodyClosedIsRemovedQuietly() throws IOException {
            int[] ends = new int[2];
            assertThat(Posix.pipe(state, ends)).isZero();
            Descriptor adopted = new Descriptor(ends[1], false);
            selector.add(adopted, KEY, BOTH, LEVEL);
            Posix.close(state, ends[1]);
            assertThatThrownBy(() -> selector.modify(adopted, KEY, WRITABLE, LEVEL))
                    .isInstanceOfSatisfying(
                            ErrnoException.class,
                            e -> assertThat(e.is(Errno.EBADF)).isTrue());
            selector.remove(adopted, KEY);
            assertThat(adopted).hasToString("fd " + ends[1] + " (0 in use)");
            Posix.close(state, ends[0]);
        }

        @Test
        void modifyOfWhatIsNotRegisteredIsRefused() {
            Descriptor[] pipe = pipe();
            assertThatThrownBy(() -> selector.modify(pipe[0], KEY, READABLE, LEVEL))
                    .isInstanceOf(ErrnoException.class);
        }

        @Test
        @DisplayName("mio-26: control from another thread takes effect during a wait")
        void anotherThreadAddsDuringAWait() throws Exception {
            Descriptor[] pipe = pipe();
            write(pipe[1]);
            FutureTask<Integer> waiting = awaitElsewhere();
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            assertThat(waiting.get(10, SECONDS)).isEqualTo(1);
            assertThat(selector.key(0)).isEqualTo(KEY);
        }

        @Test
        void anotherThreadModifiesDuringAWait() throws Exception {
            Descriptor[] pipe = pipe();
            write(pipe[1]);
            selector.add(pipe[0], KEY, 0, LEVEL);
            FutureTask<Integer> waiting = awaitElsewhere();
            selector.modify(pipe[0], KEY, READABLE, ONESHOT);
            assertThat(waiting.get(10, SECONDS)).isEqualTo(1);
        }
    }

    @Nested
    @DisplayName("mio-5: one event per key and wait")
    class Merging {
        @Test
        void twoReadyFiltersAreOneEvent() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            for (int trigger : new int[] {LEVEL, EDGE, ONESHOT}) {
                selector.add(pair[0], KEY, BOTH, trigger);
                assertOne(BOTH);
                selector.remove(pair[0], KEY);
            }
        }

        @Test
        void manyReadyPairsGiveOneEventEach() throws IOException {
            Map<Long, Integer> expected = new HashMap<>();
            for (int i = 0; i < 40; i++) {
                Descriptor[] pair = socketPair();
                long key = KernelKey.of(i + 1, i * 1000);
                if (i % 2 == 0) {
                    write(pair[1]);
                }
                selector.add(pair[0], key, BOTH, LEVEL);
                expected.put(key, i % 2 == 0 ? BOTH : WRITABLE);
            }
            for (int i = 0; i < 3; i++) {
                assertThat(await(128)).isEqualTo(expected);
            }
        }

        @Test
        void keysThatShareASlotAreNotMerged() throws IOException {
            Descriptor[] one = socketPair();
            Descriptor[] other = pipe();
            write(other[1]);
            selector.add(one[0], KernelKey.of(1, 7), WRITABLE, LEVEL);
            selector.add(other[0], KernelKey.of(2, 7), READABLE, LEVEL);
            assertThat(await(8)).isEqualTo(Map.of(KernelKey.of(1, 7), WRITABLE, KernelKey.of(2, 7), READABLE));
        }

        @Test
        @DisplayName("tip-13: more ready sources than places are served over several waits")
        void noneIsStarvedBySmallWaits() throws IOException {
            Map<Long, Integer> seen = new HashMap<>();
            for (int i = 0; i < 10; i++) {
                Descriptor[] pair = socketPair();
                write(pair[1]);
                selector.add(pair[0], KernelKey.of(1, i), BOTH, LEVEL);
            }
            for (int i = 0; i < 10; i++) {
                Map<Long, Integer> some = await(3);
                assertThat(some).hasSizeBetween(1, 3);
                some.forEach((key, bits) -> seen.merge(key, bits, (left, right) -> left | right));
            }
            assertThat(seen)
                    .hasSize(10)
                    .allSatisfy((key, bits) -> assertThat(bits).isEqualTo(BOTH));
        }

        @Test
        void theWaitGrowsWithWhatIsAsked() throws IOException {
            for (int i = 0; i < 200; i++) {
                selector.add(pipe()[1], KernelKey.of(1, i), WRITABLE, LEVEL);
            }
            assertThat(await(200)).hasSize(200);
        }
    }

    @Nested
    @DisplayName("tip-10: hang-up and error")
    class Translation {
        @Test
        void aClosedWriterIsReadClosed() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            pipe[1].close();
            assertOne(READABLE | READ_CLOSED);
            assertOne(READABLE | READ_CLOSED);
        }

        @Test
        void aClosedReaderIsWriteClosed() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[1], KEY, WRITABLE, LEVEL);
            assertOne(WRITABLE);
            pipe[0].close();
            assertOne(WRITABLE | WRITE_CLOSED);
        }

        @Test
        void aClosedPeerIsBoth() throws IOException {
            Descriptor[] pair = socketPair();
            selector.add(pair[0], KEY, BOTH, EDGE);
            assertOne(WRITABLE);
            pair[1].close();
            assertOne(BOTH | READ_CLOSED | WRITE_CLOSED);
        }

        @Test
        void aPeerThatWritesNoMoreIsReadClosedOnly() throws IOException {
            Descriptor[] pair = socketPair();
            selector.add(pair[0], KEY, BOTH, LEVEL);
            shutdownWrite(pair[1]);
            assertOne(BOTH | READ_CLOSED);
        }

        @Test
        void aResetConnectionIsAnError() throws IOException {
            Descriptor[] pair = socketPair();
            selector.add(pair[0], KEY, BOTH, LEVEL);
            write(pair[0]);
            pair[1].close(); // with a byte that it has not read
            assertOne(BOTH | READ_CLOSED | WRITE_CLOSED | ERROR);
        }

        @Test
        void theTable() {
            int eof = KqueueLayout.EV_EOF;
            short read = KqueueLayout.EVFILT_READ;
            short write = KqueueLayout.EVFILT_WRITE;
            assertThat(KqueueSelector.translate(read, 0, 0)).isEqualTo(READABLE);
            assertThat(KqueueSelector.translate(write, 0, 0)).isEqualTo(WRITABLE);
            assertThat(KqueueSelector.translate(read, eof, 0)).isEqualTo(READABLE | READ_CLOSED);
            assertThat(KqueueSelector.translate(write, eof, 0)).isEqualTo(WRITABLE | WRITE_CLOSED);
            assertThat(KqueueSelector.translate(read, eof, 54)).isEqualTo(READABLE | READ_CLOSED | ERROR);
            assertThat(KqueueSelector.translate(write, eof, 61)).isEqualTo(WRITABLE | WRITE_CLOSED | ERROR);
            assertThat(KqueueSelector.translate(read, 0, 1)).isEqualTo(READABLE);
            assertThat(KqueueSelector.translate(write, KqueueLayout.EV_ERROR, 0))
                    .isEqualTo(WRITABLE | ERROR);
        }

        @Test
        @DisplayName("mio-29: an empty interest is silent, whatever the kernel holds")
        void anEmptyInterestIsSilent() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            selector.add(pair[0], KEY, 0, LEVEL);
            pair[1].close();
            long start = System.nanoTime();
            assertThat(selector.await(30 * MILLI, 8)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30 * MILLI);
        }

        @Test
        void urgentDataIsAcceptedAndNeverReported() throws IOException {
            Descriptor[] pair = socketPair();
            write(pair[1]);
            selector.add(pair[0], KEY, Bits.PRIORITY, LEVEL);
            assertNothing();
        }
    }

    @Nested
    @DisplayName("tip-11: timeouts")
    class Timeouts {
        @Test
        void aWaitIsNeverShorterThanAsked() throws IOException {
            for (long nanos : new long[] {1, 300_000, 2 * MILLI, 20 * MILLI}) {
                long start = System.nanoTime();
                assertThat(selector.await(nanos, 8)).isZero();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(nanos);
            }
        }

        @Test
        void theLongestTimeoutIsAccepted() throws Exception {
            FutureTask<Integer> waiting = elsewhere(() -> selector.await(Long.MAX_VALUE, 8));
            selector.wake();
            assertThat(waiting.get(10, SECONDS)).isZero();
        }
    }

    @Nested
    @DisplayName("tip-5: wake-up")
    class Waking {
        @Test
        void aWakeEndsTheCurrentWait() throws Exception {
            FutureTask<Integer> waiting = awaitElsewhere();
            selector.wake();
            assertThat(waiting.get(10, SECONDS)).isZero();
        }

        @Test
        void wakesBeforeAWaitCoalesce() throws Exception {
            for (int i = 0; i < 1000; i++) {
                selector.wake();
            }
            assertThat(awaitElsewhere().get(10, SECONDS)).isZero();
            long start = System.nanoTime();
            assertThat(selector.await(20 * MILLI, 8)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20 * MILLI);
        }

        @Test
        void everyWakeIsANewOne() throws Exception {
            for (int i = 0; i < 100; i++) {
                selector.wake();
                assertThat(awaitElsewhere().get(10, SECONDS)).isZero();
            }
        }

        @Test
        void aWakeIsNoEventBesideOthers() throws IOException {
            Descriptor[] pipe = pipe();
            write(pipe[1]);
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            selector.wake();
            assertOne(READABLE);
        }

        @Test
        void aWakeAfterCloseDoesNothing() throws IOException {
            Selector other = KqueueSelector.open();
            other.close();
            Selector successor = KqueueSelector.open(); // very likely of the same number
            other.wake();
            long start = System.nanoTime();
            assertThat(successor.await(5 * MILLI, 8)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(5 * MILLI);
            successor.close();
        }
    }

    @Nested
    class Closing {
        @Test
        void closeReleasesEveryUse() throws IOException {
            Descriptor[] pair = socketPair();
            Descriptor[] pipe = pipe();
            selector.add(pair[0], KEY, BOTH, LEVEL);
            selector.add(pipe[0], KernelKey.of(1, 8), 0, LEVEL);
            pipe[0].close();
            selector.close();
            assertThat(pair[0]).hasToString("fd " + pair[0].fd() + " (0 in use)");
            assertThat(Posix.probe(pipe[0].fd())).isEqualTo(-Errno.EBADF.code());
        }

        @Test
        void closeIsIdempotent() throws IOException {
            Descriptor[] pipe = pipe();
            selector.add(pipe[0], KEY, READABLE, LEVEL);
            selector.close();
            selector.close();
            assertThat(pipe[0]).hasToString("fd " + pipe[0].fd() + " (0 in use)");
        }

        @Test
        @DisplayName("tip-14: closes everything")
        void aSelectorIsOneDescriptor() throws IOException {
            assumeTrue(Os.current() == Os.LINUX, "counts /proc/self/fd");
            long before = openFiles();
            Selector other = KqueueSelector.open();
            assertThat(openFiles()).isEqualTo(before + 1);
            Descriptor[] pair = socketPair();
            other.add(pair[0], KEY, BOTH, LEVEL);
            other.remove(pair[0], KEY);
            other.close();
            pair[0].close();
            pair[1].close();
            assertThat(openFiles()).isEqualTo(before);
        }

        @Test
        void theKqueueIsNotInherited() throws IOException {
            assumeTrue(Os.current() == Os.LINUX, "reads /proc/self/fdinfo");
            String fd = selector.toString().replaceAll(".*fd (\\d+) .*", "$1");
            String flags =
                    Files.readString(Path.of("/proc/self/fdinfo", fd)).replaceAll("(?s).*flags:\\s*(\\d+).*", "$1");
            assertThat(Integer.parseInt(flags, 8) & 0x80000).isNotZero();
        }
    }

    @Nested
    class Choice {
        @Test
        void byNameItIsOpened() throws IOException {
            try (Selector chosen = Backends.open("kqueue", "the test").selector()) {
                assertThat(chosen.name()).isEqualTo("kqueue");
                assertThat(chosen.toString()).startsWith("kqueue selector, ").endsWith(" (0 in use)");
            }
        }

        @Test
        void onLinuxItIsNeverTheDefault() throws IOException {
            assumeTrue(Os.current() == Os.LINUX, "the default on BSD");
            assertThat(Backends.byDefault()).extracting(SelectorProvider::name).containsExactly("epoll", "poll", "nio");
            try (Selector chosen = Backends.open(null, "").selector()) {
                assertThat(chosen.name()).isEqualTo("epoll");
            }
        }

        @Test
        void withoutALibraryItIsRefusedOnLinux() {
            assumeTrue(Os.current() == Os.LINUX, "has its own kqueue");
            assertThat(refusalWith(KqueueSelector.LIBRARY_PROPERTY, null))
                    .isEqualTo("cannot open backend kqueue, asked for by the test: there is no kqueue on Linux."
                            + " To run it over an emulation, name a library by -Dmillrace.kqueue.library.");
        }

        @Test
        void aMissingLibraryAndAWrongFlavorAreNamed() {
            assertThat(refusalWith(KqueueSelector.LIBRARY_PROPERTY, "/nowhere/libkqueue.so"))
                    .contains("there is no file /nowhere/libkqueue.so. Name an existing library by"
                            + " -Dmillrace.kqueue.library.");
            assertThat(refusalWith(KqueueLayout.FLAVOR_PROPERTY, "hurd"))
                    .contains(
                            "there is no kqueue flavor hurd; there are macos, freebsd, libkqueue. Name one of them by");
        }

        private String refusalWith(String property, String value) {
            String before = System.getProperty(property);
            try {
                set(property, value);
                Backends.open("kqueue", "the test").selector().close();
                return "opened";
            } catch (IllegalStateException | IOException e) {
                return e.getMessage();
            } finally {
                set(property, before);
            }
        }

        private void set(String property, String value) {
            if (value == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, value);
            }
        }
    }

    // ---- Waiting ----

    /** For waits that would never end if the selector were wrong: a native wait cannot be interrupted. */
    private FutureTask<Integer> awaitElsewhere() {
        return elsewhere(() -> selector.await(-1, 8));
    }

    private static <T> FutureTask<T> elsewhere(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private void assertOne(int bits) throws IOException {
        assertThat(await(8)).isEqualTo(Map.of(KEY, bits));
    }

    /** Twice: the late sibling of a one-shot registration would come in a further wait. */
    private void assertNothing() throws IOException {
        assertThat(await(8)).isEmpty();
        assertThat(await(8)).isEmpty();
    }

    private Map<Long, Integer> await(int maxEvents) throws IOException {
        int count = selector.await(0, maxEvents);
        Map<Long, Integer> events = new HashMap<>();
        for (int i = 0; i < count; i++) {
            assertThat(events.put(selector.key(i), selector.readiness(i)))
                    .as("a second event of one key")
                    .isNull();
        }
        return events;
    }

    // ---- Descriptors ----

    private static final MethodHandle SOCKETPAIR = Native.link("socketpair", 4);
    private static final MethodHandle SHUTDOWN = Native.link("shutdown", 2);

    private Descriptor[] pipe() {
        int[] ends = new int[2];
        assertThat(Posix.pipe(state, ends)).isZero();
        return keep(ends[0], ends[1]);
    }

    private Descriptor[] socketPair() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(ValueLayout.JAVA_INT, 2);
            long unix = 1;
            long stream = 1;
            assertThat(state.result((long) SOCKETPAIR.invokeExact(state.segment, unix, stream, 0L, pair.address())))
                    .isZero();
            Descriptor[] ends =
                    keep(pair.getAtIndex(ValueLayout.JAVA_INT, 0), pair.getAtIndex(ValueLayout.JAVA_INT, 1));
            for (Descriptor end : ends) {
                Posix.setNonBlockingAndCloseOnExec(state, end.fd());
            }
            return ends;
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private Descriptor regularFile() {
        try (Arena arena = Arena.ofConfined()) {
            long name = arena.allocateFrom("millrace").address();
            int fd = state.result((long) Native.link("memfd_create", 2).invokeExact(state.segment, name, 0L));
            Descriptor file = new Descriptor(fd, false);
            opened.add(file);
            return file;
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private Descriptor[] keep(int first, int second) {
        Descriptor[] ends = {new Descriptor(first, true), new Descriptor(second, true)};
        opened.addAll(List.of(ends));
        return ends;
    }

    private void shutdownWrite(Descriptor socket) {
        try {
            assertThat(state.result((long) SHUTDOWN.invokeExact(state.segment, (long) socket.fd(), 1L)))
                    .isZero();
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private void write(Descriptor descriptor) {
        assertThat(Posix.write(state, descriptor.fd(), state.scratch(), 1)).isEqualTo(1);
    }

    private void read(Descriptor descriptor) {
        assertThat(Posix.read(state, descriptor.fd(), state.scratch(), 1)).isEqualTo(1);
    }

    private static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
