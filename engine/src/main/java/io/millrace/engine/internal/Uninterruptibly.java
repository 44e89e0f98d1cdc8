package io.millrace.engine.internal;

import java.util.concurrent.CountDownLatch;

/** Waits that an interrupt does not cut short; the interrupt status is restored for the caller. */
public final class Uninterruptibly {
    private Uninterruptibly() {}

    private interface Wait {
        void await() throws InterruptedException;
    }

    public static void await(CountDownLatch latch) {
        wait(latch::await);
    }

    public static void join(Thread thread) {
        wait(thread::join);
    }

    private static void wait(Wait what) {
        boolean interrupted = false;
        for (; ; ) {
            try {
                what.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
