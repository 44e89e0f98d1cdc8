package io.millrace.poll;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The handshake by itself: work is a number, the kernel a semaphore. A lost wake-up is a deadlock here. */
@Tag("lincheck")
class WakeGateLincheckTest {
    /** What a wait in the kernel does: it ends when somebody has woken it, and takes all wakes before that as one. */
    private static final class Kernel {
        private boolean woken;
        private int wakes;

        synchronized void await() throws InterruptedException {
            while (!woken) {
                wait();
            }
            woken = false;
        }

        synchronized void wake() {
            woken = true;
            wakes++;
            notifyAll();
        }
    }

    @Test
    void theSleeperFindsTheWorkOrOneWakerFindsTheSleeper_mio15_tip5() {
        Lincheck.runConcurrentTest(Effort.times(500), () -> {
            WakeGate gate = new WakeGate();
            Kernel kernel = new Kernel();
            AtomicInteger work = new AtomicInteger();
            int wakers = 2;

            Runnable waker = () -> {
                work.incrementAndGet();
                if (gate.claimWake()) {
                    kernel.wake();
                }
            };
            int[] sleeps = new int[1];
            Thread sleeper = new Thread(() -> {
                try {
                    for (int done = 0; done < wakers; ) {
                        gate.fallAsleep();
                        sleeps[0]++;
                        if (work.get() == done) {
                            kernel.await();
                        }
                        gate.awake();
                        done = work.get();
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            Thread first = new Thread(waker);
            Thread second = new Thread(waker);
            sleeper.start();
            first.start();
            second.start();
            join(sleeper, first, second);
            if (kernel.wakes > sleeps[0]) {
                throw new AssertionError(kernel.wakes + " system calls for " + sleeps[0] + " sleeps");
            }
        });
    }

    private static void join(Thread... threads) {
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
