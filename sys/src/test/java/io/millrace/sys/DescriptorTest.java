package io.millrace.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Posix;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A descriptor is closed exactly once, and never while somebody uses it. */
class DescriptorTest {
    private static final int ROUNDS = Boolean.getBoolean("millrace.soak") ? 100_000 : 2_000;
    private static final int USERS = 2;

    /** Ends of pipes that the test itself has to close. */
    private final List<Integer> mine = new ArrayList<>();

    @AfterEach
    void closeMine() {
        mine.forEach(fd -> Posix.close(CallState.borrow(), fd));
    }

    @Test
    void withoutAUseItIsClosedAtOnce() {
        Descriptor descriptor = writerOfAPipe();

        descriptor.close();

        assertThat(isOpen(descriptor.fd())).isFalse();
        assertThat(descriptor.isClosing()).isTrue();
    }

    @Test
    void inUseItIsClosedByWhoeverDropsTheLastUse() {
        Descriptor descriptor = writerOfAPipe();
        assertThat(descriptor.acquire()).isTrue();
        assertThat(descriptor.acquire()).isTrue();

        descriptor.close();
        assertThat(isOpen(descriptor.fd())).as("two uses").isTrue();
        descriptor.release();
        assertThat(isOpen(descriptor.fd())).as("one use").isTrue();
        descriptor.release();

        assertThat(isOpen(descriptor.fd())).isFalse();
    }

    @Test
    void whenItIsClosingNoUseIsGiven() {
        Descriptor descriptor = writerOfAPipe();
        descriptor.acquire();
        descriptor.close();

        assertThat(descriptor.acquire()).isFalse();
        descriptor.release();
        assertThat(descriptor.acquire()).isFalse();
    }

    @Test
    void closingItTwiceLeavesTheNextOwnerOfItsNumberAlone() {
        Descriptor descriptor = writerOfAPipe();
        descriptor.close();
        while (!mine.contains(descriptor.fd())) {
            // The system gives out the lowest free number, so this soon gets it.
            for (int end : pipe()) {
                mine.add(end);
            }
        }

        descriptor.close();

        assertThat(isOpen(descriptor.fd())).isTrue();
    }

    /**
     * Users write a byte while they hold a use, a closer closes, and bystanders get the numbers that become free. A close during
     * a use, or a second close, shows as a write that fails, as a byte in a bystander's pipe or as a bystander's pipe that is gone.
     */
    @Test
    void usersAndACloserAndBystandersNeverMeetOnANumber() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(USERS + 2);
        long scratch = Native.allocateForever(16, 8);
        Descriptor[] current = new Descriptor[1];
        List<Future<?>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(USERS + 2)) {
            for (int i = 0; i < USERS; i++) {
                running.add(threads.submit(breaking(barrier, () -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        barrier.await();
                        Descriptor descriptor = current[0];
                        for (int use = 0; use < 4 && descriptor.acquire(); use++) {
                            long written = Posix.write(CallState.borrow(), descriptor.fd(), scratch, 1);
                            descriptor.release();
                            assertThat(written).as("round %d", round).isEqualTo(1);
                        }
                        barrier.await();
                    }
                    return null;
                })));
            }
            running.add(threads.submit(breaking(barrier, () -> {
                for (int round = 0; round < ROUNDS; round++) {
                    barrier.await();
                    int[] bystander = pipe();
                    long read = Posix.read(CallState.borrow(), bystander[0], scratch + 8, 8);
                    assertThat(read).as("a stranger's byte, round %d", round).isEqualTo(-Errno.EAGAIN.code());
                    assertThat(Posix.close(CallState.borrow(), bystander[0])).isZero();
                    assertThat(Posix.close(CallState.borrow(), bystander[1])).isZero();
                    barrier.await();
                }
                return null;
            })));
            running.add(threads.submit(breaking(barrier, () -> {
                for (int round = 0; round < ROUNDS; round++) {
                    int[] ends = pipe();
                    Descriptor descriptor = new Descriptor(ends[1], false);
                    current[0] = descriptor;
                    barrier.await();
                    descriptor.close();
                    descriptor.close();
                    barrier.await();
                    assertThat(isOpen(ends[1]))
                            .as("still open after round %d", round)
                            .isFalse();
                    Posix.close(CallState.borrow(), ends[0]);
                }
                return null;
            })));
            assertThat(failures(running)).isEmpty();
        }
    }

    /** Whoever fails breaks the barrier, so that the others do not wait for it. */
    private static Callable<Void> breaking(CyclicBarrier barrier, Callable<Void> body) {
        return () -> {
            try {
                return body.call();
            } catch (Throwable thrown) {
                barrier.reset();
                throw thrown;
            }
        };
    }

    private static List<Throwable> failures(List<Future<?>> running) throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        for (Future<?> one : running) {
            try {
                one.get();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof BrokenBarrierException)) {
                    failures.add(e.getCause());
                }
            }
        }
        return failures;
    }

    private Descriptor writerOfAPipe() {
        int[] ends = pipe();
        mine.add(ends[0]);
        return new Descriptor(ends[1], false);
    }

    private static int[] pipe() {
        int[] ends = new int[2];
        assertThat(Posix.pipe(CallState.borrow(), ends)).isZero();
        return ends;
    }

    private static boolean isOpen(int fd) {
        return Posix.probe(fd) >= 0;
    }
}
