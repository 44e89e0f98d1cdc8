package io.millrace.engine.vthread;

import io.millrace.engine.internal.FailureLog;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A virtual thread that runs on a loop: the scheduler of that one thread, and the item that the loop runs when it is to
 * continue.
 *
 * <p><b>How it continues.</b> What unparks it passes its continuation to {@link #execute}. On any thread, that puts it
 * into the loop's run queue. But if the loop itself resumes it ({@link #resume}), for example because bytes for it have
 * arrived, it continues within that call, as a callback would. It runs until it parks; what it has left behind for the
 * loop is done then, on the loop's platform thread, and if that lets it go on, it goes on at once. After {@value
 * #RUNS} times it goes behind the others.
 *
 * <p><b>It never rejects.</b> A continuation that is rejected never runs again, nor do its {@code finally} clauses. So
 * when the loop has ended, it runs on the JDK's scheduler. While something blocks the loop, it does too: that may be a
 * callback that waits for a lock which this thread holds, and the two would wait for each other for ever.
 *
 * <p><b>Its children.</b> A virtual thread that this one starts inherits its scheduler, as the JDK has it: so its
 * continuations arrive here too. They are passed on to the JDK's scheduler, because nobody has said of that code that it
 * may run on a loop: it may read files, or look up names.
 *
 * <p><b>Threads.</b> {@link #execute} may be called on any thread. The rest is for the loop's thread, or for this
 * virtual thread while the loop carries it; so its fields need no synchronization.
 */
public final class CarriedThread implements Executor, Runnable {
    /** How often it may go on at once before it goes behind the others. */
    private static final int RUNS = 64;

    /** How many calls it may make that need not wait, before it goes behind the others. */
    private static final int CALLS = 128;

    private final ThreadCarrier carrier;
    private final Thread thread;
    /**
     * What it runs; null when that has begun. Threads that it has started know this object, as their scheduler, for as
     * long as they live, and must not keep what it has used.
     */
    private @Nullable Runnable task;
    /** Written by the first {@link #execute}, which is part of the thread's start. */
    private @Nullable Runnable continuation;

    /** Whether the loop is about to run it, so that it need not be put into the run queue. */
    private boolean inline;
    /** Whether its continuation was submitted while {@link #inline} was set. */
    private boolean again;
    /** What it wants done by its carrier before it continues. */
    private @Nullable Runnable errand;
    /** What it wants done when it has parked. */
    private @Nullable Runnable afterPark;
    /** What has to be flushed when it has stopped. */
    private @Nullable Runnable unflushed;

    /** Whether the loop runs it now, or did last. Written by whatever is about to run it, and read by the thread itself. */
    private boolean onLoop;

    private int calls;

    /**
     * Creates a thread, which {@link #start} starts.
     *
     * @param carrier the loop that runs it
     * @param name its name
     * @param task what it runs
     */
    public CarriedThread(ThreadCarrier carrier, String name, Runnable task) {
        this.carrier = carrier;
        this.task = task;
        this.thread = LoopThreads.unstarted(this, name, LoopThreads.at(carrier, this::runTask));
    }

    private void runTask() {
        Runnable what = task;
        task = null;
        if (what != null) {
            what.run();
        }
    }

    /** Starts it. If the caller is the loop, and carries nothing else, it runs within this call until it parks. */
    public void start() {
        if (mayRunHere()) {
            inline = true;
            thread.start();
            runIfSubmitted();
        } else {
            thread.start();
        }
    }

    /** Starts it. It runs in one of the loop's next turns. Any thread. */
    public void startLater() {
        thread.start();
    }

    /** Unparks it. If the loop carries nothing else, it runs within this call until it parks. On the loop. */
    public void resume() {
        if (mayRunHere()) {
            inline = true;
            LockSupport.unpark(thread);
            runIfSubmitted();
        } else {
            LockSupport.unpark(thread);
        }
    }

    private boolean mayRunHere() {
        return carrier.inLoop()
                && carrier.carried() == null
                && !Thread.currentThread().isVirtual();
    }

    private void runIfSubmitted() {
        inline = false;
        if (again) {
            again = false;
            run();
        }
    }

    /** Takes a continuation: of this thread, or of one that it has started. Any thread. */
    @Override
    @SuppressWarnings("ReferenceEquality") // a thread has one continuation
    public void execute(Runnable task) {
        if (continuation == null) {
            continuation = task;
        }
        if (task != continuation) {
            LoopThreads.jdkScheduler().execute(task);
        } else if (carrier.inLoop() && (inline || errand != null)) {
            again = true;
        } else {
            carrier.submit(this);
        }
    }

    /** Runs it on the JDK's scheduler until it parks. Called instead of {@link #run}, on any thread. */
    public void runElsewhere() {
        Runnable mine = continuation;
        if (mine != null) {
            LoopThreads.jdkScheduler().execute(() -> {
                onLoop = false; // while the loop may still be busy with what the thread has left behind there
                mine.run();
            });
        }
    }

    /** Runs it until it parks. Called by the loop. */
    @Override
    public void run() {
        Runnable mine = continuation;
        if (mine == null) {
            return;
        }
        Thread platform = Thread.currentThread();
        if (platform.isVirtual()) {
            runElsewhere(); // the loop is run by a virtual thread, which cannot carry another
            return;
        }
        boolean interrupted = platform.isInterrupted(); // the loop's owner may want to know; the thread clears it
        carrier.setCarried(this);
        try {
            calls = 0;
            inline = true;
            int left = RUNS;
            do {
                again = false;
                onLoop = true;
                mine.run();
                inline = --left > 0;
                runErrands();
            } while (again);
        } finally {
            inline = false;
            again = false;
            carrier.setCarried(null);
            flush();
            if (interrupted) {
                platform.interrupt();
            }
        }
    }

    private void runErrands() {
        Runnable what = errand;
        if (what != null) {
            flush();
            runContained(what);
            errand = null;
        }
        Runnable then = afterPark;
        if (then != null) {
            afterPark = null;
            runContained(then);
        }
    }

    private void flush() {
        Runnable what = unflushed;
        if (what != null) {
            unflushed = null;
            runContained(what);
        }
    }

    private static void runContained(Runnable what) {
        try {
            what.run();
        } catch (Throwable e) {
            FailureLog.report(what, e);
        }
    }

    // ---- The thread itself, while the loop carries it ----

    /**
     * Returns whether the calling thread is this one, and on its loop. That its loop says so is not enough: it says so
     * until it has done what the thread has left behind, and the thread may go on elsewhere before that.
     *
     * @return whether the loop carries the calling thread
     */
    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    public boolean isCurrent() {
        return Thread.currentThread() == thread && onLoop;
    }

    /**
     * Leaves the loop's thread, and comes back when the loop has run something.
     *
     * @param what runs on the loop's platform thread, where it may touch what belongs to the loop
     * @return false if it has not run, because the thread cannot leave: there is native code on its stack, or the
     *     initializer of a class
     */
    @SuppressWarnings(
            "ThreadPriorityCheck") // not a hint here: the scheduler is our loop, and a yield is how the thread leaves
    // it
    public boolean onCarrier(Runnable what) {
        errand = what;
        Thread.yield();
        boolean ran = errand == null;
        errand = null;
        return ran;
    }

    /**
     * Has the loop run something when the thread has parked.
     *
     * @param what runs on the loop's platform thread
     */
    public void afterPark(Runnable what) {
        afterPark = what;
    }

    /**
     * Has the loop run something when it has stopped to run this thread, or before it runs something else for it.
     *
     * @param what flushes what the thread has gathered; one at a time
     */
    public void flushAfterwards(Runnable what) {
        unflushed = what;
    }

    /** Counts a call that did not have to wait. After some of them it goes behind the others. */
    public void countCall() {
        if (++calls >= CALLS) {
            giveWay();
        }
    }

    /** Goes behind what the loop has to run. */
    @SuppressWarnings("ThreadPriorityCheck") // not a hint here: the scheduler is our loop
    public void giveWay() {
        calls = 0;
        inline = false;
        Thread.yield();
    }

    /**
     * Returns the thread.
     *
     * @return to name, interrupt or join it
     */
    public Thread thread() {
        return thread;
    }

    @Override
    public String toString() {
        return "virtual thread #" + thread.threadId() + " \"" + thread.getName() + "\"";
    }
}
