package io.millrace.engine.vthread;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs a virtual thread by hand, to see whether this JDK treats its scheduler as we rely on.
 *
 * <p>A class of its own: it runs while {@link LoopThreads} is being initialized, when no other thread can run a method of
 * that; and if the thread that needs it is virtual, another thread has to try.
 */
final class SchedulerTrial {
    /** Creates a virtual thread with a scheduler. */
    interface Factory {
        Thread unstarted(Executor scheduler, String name, Runnable task);
    }

    private SchedulerTrial() {}

    /** Returns what is wrong, or null. */
    static @Nullable String tryOut(Factory factory) {
        if (!Thread.currentThread().isVirtual()) {
            boolean asked = Thread.interrupted(); // it would be lost: a thread that leaves clears it
            try {
                return runByHand(factory);
            } finally {
                if (asked) {
                    Thread.currentThread().interrupt();
                }
            }
        }
        String[] wrong = {"could not try it"};
        Thread platform = Thread.ofPlatform().daemon(true).start(() -> wrong[0] = runByHand(factory));
        boolean interrupted = false;
        while (platform.isAlive()) {
            try {
                platform.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return wrong[0];
    }

    @SuppressWarnings({
        "ThreadPriorityCheck", // not a hint here: the scheduler is the list
        "ReferenceEquality" // so does CarriedThread compare continuations
    })
    private static @Nullable String runByHand(Factory factory) {
        List<Runnable> continuations = new ArrayList<>();
        List<Thread> ran = new ArrayList<>();
        Thread thread = factory.unstarted(continuations::add, "millrace-probe", () -> {
            ran.add(Thread.currentThread());
            Thread.yield();
            ran.add(Thread.currentThread());
        });
        thread.start();
        for (int i = 0; i < 2; i++) {
            if (continuations.size() != i + 1 || ran.size() != i) {
                return "does not pass the continuations of a virtual thread to its scheduler";
            }
            if (continuations.get(i) != continuations.getFirst()) {
                return "passes another continuation of a virtual thread to its scheduler each time";
            }
            continuations.get(i).run();
        }
        boolean works = ran.equals(List.of(thread, thread)) && thread.getState() == Thread.State.TERMINATED;
        return works ? null : "does not run a virtual thread on the thread that its scheduler chooses";
    }
}
