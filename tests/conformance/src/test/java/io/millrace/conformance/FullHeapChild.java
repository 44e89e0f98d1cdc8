package io.millrace.conformance;

import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.Task;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Lets something fail for the first time in this JVM while the heap is full to the last word, and checks that it was
 * contained when there is memory again. What is thrown was created beforehand. The heap is filled and freed by a task
 * of a reactor, which needs no memory itself meanwhile.
 */
final class FullHeapChild {
    private static final OutOfMemoryError FAILURE = new OutOfMemoryError("created beforehand");

    /** What the full heap is full of. Two threads fill it. */
    private static final AtomicReference<Object @Nullable []> HOARD = new AtomicReference<>();

    /** The thread whose clock fails. */
    private static volatile @Nullable String victim;

    private static volatile boolean failed;
    private static volatile boolean over;

    /** How often the watchdog has asked for the time. */
    private static volatile int looks;

    private static final Clock CLOCK = () -> {
        String thread = Thread.currentThread().getName();
        if (thread.equals("tested-watchdog")) {
            looks++;
        }
        if (thread.equals(victim)) {
            failed = true;
            fillUp(); // it may have room of its own, or others have given some back
            throw FAILURE;
        }
        return System.nanoTime();
    };

    private FullHeapChild() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "reactor" -> reactor();
            case "item" -> item();
            case "watchdog" -> watchdog();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void fill() {
        for (int size = 1 << 18; size >= 1; ) {
            size = fill(size) ? size : size / 2;
        }
    }

    private static void fillUp() {
        while (fill(1)) {}
    }

    private static boolean fill(int size) {
        try {
            Object[] next = new Object[size];
            do {
                next[0] = HOARD.get();
            } while (!HOARD.compareAndSet((Object[]) next[0], next));
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Lets a thread fail while there is no memory, and waits a little for what follows; takes what others give back meanwhile. */
    private static void failInFullHeap(String thread) {
        fill();
        fillUp(); // and so its code has run
        victim = thread;
        stayFull(5_000_000_000L, true); // or something before its clock has failed, for want of memory
        stayFull(300_000_000, false);
        victim = null;
        HOARD.set(null);
        over = true;
    }

    private static void stayFull(long nanos, boolean untilFailed) {
        for (long began = System.nanoTime(); System.nanoTime() - began < nanos && !(untilFailed && failed); ) {
            LockSupport.parkNanos(10_000_000);
            fillUp();
        }
    }

    /** Without need of memory. */
    private static void awaitMemory() {
        while (!over) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** A reactor: its manager ends, and says why. */
    private static void reactor() throws Exception {
        Reactors manager = Reactors.builder()
                .reactors(2)
                .name("tested")
                .clock(CLOCK)
                .withoutWatchdog()
                .open();
        for (int i = 0; i < 2; i++) {
            manager.scheduleEvery(Duration.ofMillis(1), Duration.ofMillis(1), fired -> {}, Priority.NORMAL);
        }
        manager.execute(
                () -> failInFullHeap(Thread.currentThread().getName().equals("tested-0") ? "tested-1" : "tested-0"));
        awaitMemory();
        try {
            manager.termination().get(10, TimeUnit.SECONDS);
            throw new AssertionError("it ended as if nothing had failed");
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof OutOfMemoryError)) {
                throw e;
            }
        }
        if (!manager.awaitTermination(Duration.ofSeconds(10))) {
            throw new AssertionError("it has not ended");
        }
    }

    /** What a reactor runs: the reactor goes on with what comes next. */
    private static void item() throws Exception {
        Reactors manager = Reactors.builder().reactors(1).withoutWatchdog().open();
        manager.runAll(List.of(
                new Task(
                        () -> {
                            fill();
                            throw FAILURE;
                        },
                        Priority.NORMAL),
                new Task(() -> HOARD.set(null), Priority.NORMAL)));
        CompletableFuture.runAsync(() -> {}, manager).get(10, TimeUnit.SECONDS);
        if (HOARD.get() != null) {
            throw new AssertionError("the second task did not run");
        }
    }

    /** A look of the watchdog: it looks again. What it then sees it may not be able to tell, for want of classes. */
    private static void watchdog() throws Exception {
        Reactors manager = Reactors.builder()
                .reactors(1)
                .name("tested")
                .clock(CLOCK)
                .watchdog(Duration.ofSeconds(4), blocked -> {}) // nothing that needs memory while it is filled
                .open();
        manager.execute(() -> failInFullHeap("tested-watchdog"));
        awaitMemory();
        int before = looks;
        CompletableFuture.runAsync(
                        () -> {
                            while (looks == before) {
                                LockSupport.parkNanos(1_000_000);
                            }
                        },
                        manager)
                .get(10, TimeUnit.SECONDS);
    }
}
