package io.millrace.engine.reactor;

import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

/**
 * What a reactor has to run, by priority.
 *
 * <p>There are two queues for each priority. The <em>inbox</em> takes tasks from any thread. The <em>ring</em> belongs
 * to the reactor's thread and takes I/O, alarms, and what a turn could not finish. A turn's snapshot consists, in this
 * order, of what was left over, I/O, alarms, and the tasks that are in the inbox when delivery begins. Tasks go from
 * the inbox directly to {@link #deliver}, without passing through the ring. What exceeds the budget runs before the I/O
 * of the next turn, up to a budget: from the inbox or, if I/O is left over that precedes it, through the ring. So
 * within a priority the order is that of the snapshots, and what is queued during a turn waits for the next (grpc-2).
 *
 * <p><b>Starvation.</b> A turn runs at most the budget of each priority, and at least one item of each priority that
 * has any. A source is in the queue once. So an item with <i>k</i> items of its priority before it runs in turn <i>(k +
 * sources) / budget + 1</i> at the latest, and a turn runs at most five budgets of items, no matter what is queued
 * meanwhile.
 *
 * <p><b>Waking.</b> A producer adds its task and then checks whether the reactor sleeps; the reactor announces that it
 * sleeps and then checks {@link #isPending}. On both sides this is a store before a load, each sequentially consistent,
 * so at least one sees the other. {@link Inbox} explains what this requires of an offer.
 *
 * <p><b>Closing.</b> {@link #close} sets {@code closed}, takes everything out of the inboxes, and then sets {@code
 * sealed}. A producer reads {@code closed} before its offer, and again after it. If it is set after the offer, the task
 * may have been taken or may have been too late. The producer then waits for {@code sealed}, which does not depend on
 * it and involves no user code, and takes out what is in the inboxes by then: all of that was too late.
 */
final class RunQueue {
    private static final int CHUNK = 1024;
    private static final int CLASSES = Priority.values().length;
    private static final int NORMAL = Priority.NORMAL.level();
    /**
     * The index of the inbox for control items: what the reactor must know before it takes a snapshot. They contain no
     * user code.
     */
    private static final int CONTROL = CLASSES;
    /** How many budgets of control items a turn runs at most. */
    private static final int CONTROLS = 4;

    /**
     * How many items of a ring are prefetched together before the first of them runs. With a thousand connections, none
     * is in the cache when its turn comes, and waiting for each separately took a quarter of a message's time outside
     * the kernel: see decision 16.
     */
    private static final int AHEAD = 16;
    /** Fewer items than this are in the cache anyway. */
    private static final int MANY = 128;

    /** Runs one item, and survives what it throws. */
    interface Runner {
        void run(Runnable item);
    }

    private final int budget;
    private final Ring[] rings = new Ring[CLASSES];
    /** One for each priority, followed by the one for control items. */
    @SuppressWarnings({"unchecked", "rawtypes"}) // there are no arrays of a generic type
    private final Inbox<Runnable>[] inboxes = new Inbox[CLASSES + 1];

    private final Inbox<Runnable> normal;
    /** For each inbox, how many tasks at its head belong to an earlier snapshot. */
    private final int[] leftOver = new int[CLASSES];

    /** How many of those run before the ring. */
    private final int[] first = new int[CLASSES];

    private final int[] snapshot = new int[CLASSES];

    @SuppressWarnings("UnusedVariable") // written so that the loads before it are not optimized away
    private int touched;

    private volatile boolean closed;
    private volatile boolean sealed;
    /** Tasks that were offered too late. Guarded by itself. */
    private final IdentityHashMap<Runnable, Integer> tooLate = new IdentityHashMap<>();

    RunQueue(int budget) {
        this(budget, CHUNK);
    }

    /**
     * Creates a queue with chunks of another size.
     *
     * @param chunk how many tasks an inbox takes before it grows
     */
    RunQueue(int budget, int chunk) {
        this.budget = budget;
        for (int c = 0; c < CLASSES; c++) {
            rings[c] = new Ring();
            inboxes[c] = new Inbox<>(chunk);
        }
        inboxes[CONTROL] = new Inbox<>(chunk);
        this.normal = inboxes[NORMAL];
    }

    // ---- Any thread ----

    /** Adds a task of normal priority. */
    void offer(Runnable task) {
        offer(normal, task);
    }

    void offer(Runnable task, Priority priority) {
        offer(inboxes[priority.level()], task);
    }

    /** Adds an item that runs before the next snapshot is taken. */
    void offerControl(Runnable item) {
        offer(inboxes[CONTROL], item);
    }

    private void offer(Inbox<Runnable> inbox, Runnable task) {
        if (closed) {
            throw rejected(task);
        }
        inbox.offer(task);
        if (closed) {
            requireTaken(task);
        }
    }

    private void requireTaken(Runnable task) {
        while (!sealed) {
            Thread.onSpinWait();
        }
        synchronized (tooLate) {
            for (Inbox<Runnable> inbox : inboxes) {
                for (Runnable late = inbox.poll(); late != null; late = inbox.poll()) {
                    tooLate.merge(late, 1, Integer::sum);
                }
            }
            Integer count = tooLate.get(task);
            if (count != null) {
                if (count == 1) {
                    tooLate.remove(task);
                } else {
                    tooLate.put(task, count - 1);
                }
                throw rejected(task);
            }
        }
    }

    private static RejectedExecutionException rejected(Runnable task) {
        return new RejectedExecutionException(
                "cannot run " + FailureLog.name(task) + ": the event manager has shut down;"
                        + " hold a reference (shutdownRef) for as long as you hand over work");
    }

    /** Returns how many tasks of a priority are in the inbox, not counting those that are being delivered. */
    int depth(Priority priority) {
        return inboxes[priority.level()].size();
    }

    boolean isClosed() {
        return closed;
    }

    // ---- The reactor's thread ----

    /** Returns whether there is anything to run. The inboxes may be checked by any thread. */
    boolean isPending() {
        for (int c = 0; c < CLASSES; c++) {
            if (!inboxes[c].isEmpty() || rings[c].size() > 0) {
                return true;
            }
        }
        return !inboxes[CONTROL].isEmpty();
    }

    /** Runs the control items that are present. */
    void control() {
        Inbox<Runnable> inbox = inboxes[CONTROL];
        for (int left = inbox.isEmpty() ? 0 : Math.min(inbox.size(), CONTROLS * budget); left > 0; left--) {
            Runnable item = inbox.poll();
            if (item != null) {
                item.run();
            }
        }
    }

    /** Adds I/O or an alarm to the snapshot that is being taken. */
    void add(Runnable item, Priority priority) {
        rings[priority.level()].add(item);
    }

    /** Puts what the last turn left over in front, before I/O and alarms of a new turn are added. */
    void beginSnapshot() {
        for (int c = 0; c < CLASSES; c++) {
            if (leftOver[c] > 0) {
                if (rings[c].size() == 0) {
                    first[c] = Math.min(leftOver[c], budget);
                    leftOver[c] = 0;
                } else {
                    moveLeftOver(c);
                }
            }
        }
    }

    private void moveLeftOver(int c) {
        for (int left = Math.min(leftOver[c], budget); left > 0; left--) {
            Runnable task = inboxes[c].poll();
            if (task != null) {
                rings[c].add(task);
            }
        }
        leftOver[c] = 0;
    }

    /** Runs the snapshot, the highest priority first, each up to its budget. Returns how many items ran. */
    int deliver(Runner runner) {
        for (int c = 0; c < CLASSES; c++) {
            snapshot[c] = inboxes[c].size();
        }
        int ran = 0;
        for (int c = CLASSES - 1; c >= 0; c--) {
            ran += deliver(c, runner);
        }
        return ran;
    }

    private int deliver(int c, Runner runner) {
        int before = first[c];
        first[c] = 0;
        runTasks(c, before, runner);
        Ring ring = rings[c];
        int fromRing = Math.min(ring.size(), budget - before);
        for (int i = 0; i < fromRing; i++) {
            if (fromRing >= MANY && i % AHEAD == 0) {
                touched = ring.prefetch(Math.min(AHEAD, fromRing - i));
            }
            runner.run(ring.take());
        }
        int behind = Math.min(snapshot[c] - before, budget - before - fromRing);
        runTasks(c, behind, runner);
        leftOver[c] = snapshot[c] - before - behind;
        return before + fromRing + behind;
    }

    private void runTasks(int c, int count, Runner runner) {
        Inbox<Runnable> inbox = inboxes[c];
        for (int i = 0; i < count; i++) {
            Runnable task = inbox.poll();
            if (task != null) {
                runner.run(task);
            }
        }
    }

    /** Refuses further tasks and returns the present ones, in the order in which a turn would run them. */
    List<Runnable> close() {
        if (closed) {
            return new ArrayList<>();
        }
        closed = true;
        List<Runnable> taken = new ArrayList<>();
        try {
            for (Runnable item = inboxes[CONTROL].poll(); item != null; item = inboxes[CONTROL].poll()) {
                taken.add(item);
            }
            for (int c = CLASSES - 1; c >= 0; c--) {
                while (rings[c].size() > 0) {
                    taken.add(rings[c].take());
                }
                for (Runnable task = inboxes[c].poll(); task != null; task = inboxes[c].poll()) {
                    taken.add(task);
                }
            }
        } finally {
            sealed = true; // even if there is no memory for the list, because producers wait for this
        }
        return taken;
    }
}
