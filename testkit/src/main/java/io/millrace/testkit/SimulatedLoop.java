package io.millrace.testkit;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.Acceptor;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.StreamListener;
import io.millrace.net.memory.MemoryWire;
import io.millrace.poll.ManualClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A loop that turns only when it is told to, on the thread that tells it, and whose clock moves only then. A turn has the steps of a reactor's: what others handed over, alarms, connections that are
 * ready, what was left for the end of the turn, what is costly; and then the callbacks of those that run them elsewhere, one after the other on the same thread. So the order of everything is the
 * same in each run.
 */
final class SimulatedLoop implements ServerLoop {
    /** Nobody's test needs more: one that does has a handler that always leaves something for the next turn. */
    private static final int MOST_TURNS = 1_000_000;

    private static final int COSTLY = 32;
    private static final int OUTPUT = 64 * 1024;

    private final ManualClock clock = new ManualClock();
    private final Queue<Runnable> handedOver = new ConcurrentLinkedQueue<>();
    private final ArrayDeque<SimulatedTransport> ready = new ArrayDeque<>();
    private final ArrayDeque<Runnable> endOfTurn = new ArrayDeque<>();
    private final ArrayDeque<Runnable> costly = new ArrayDeque<>();
    private final Workers workers = new Workers();
    /** Guarded by itself. */
    private final PriorityQueue<SimulatedAlarm> alarms =
            new PriorityQueue<>(Comparator.comparingLong((SimulatedAlarm alarm) -> alarm.deadline)
                    .thenComparingLong(alarm -> alarm.number));

    private long alarmsMade;
    private final IdentityHashMap<ByteStream, MemoryWire> wires = new IdentityHashMap<>();
    private final IdentityHashMap<MemoryWire, SimulatedTransport> transports = new IdentityHashMap<>();
    private final ByteBuffer output = ByteBuffer.allocateDirect(OUTPUT);
    private ByteBuffer input = ByteBuffer.allocateDirect(0);
    private volatile @Nullable Thread turning;
    private boolean running;

    // ---- Turning ----

    /** Turns until nothing is left to do but what is due later. Does nothing in the middle of a turn, which goes on anyway. */
    void runUntilIdle() {
        if (running) {
            return;
        }
        running = true;
        try {
            for (int turns = 0; turn(); turns++) {
                if (turns == MOST_TURNS) {
                    throw new AssertionError(
                            "not idle after " + MOST_TURNS
                                    + " turns: a callback leaves something to do for the next turn each time, such as a task that executes itself");
                }
            }
        } finally {
            running = false;
        }
    }

    /** Moves the clock from one alarm to the next, so that each fires at its time. */
    void advance(Duration by) {
        runUntilIdle();
        long end = clock.nanoTime() + by.toNanos();
        while (clock.nanoTime() < end) {
            clock.advance(Duration.ofNanos(nextAlarm(end) - clock.nanoTime())); // none is due now
            runUntilIdle();
        }
    }

    private long nextAlarm(long atMost) {
        synchronized (alarms) {
            SimulatedAlarm first = alarms.peek();
            return first == null ? atMost : Math.min(atMost, first.deadline);
        }
    }

    private boolean turn() {
        turning = Thread.currentThread();
        boolean any = false;
        try {
            any |= run(handedOver, handedOver.size());
            any |= runAlarms();
            for (int left = ready.size(); left > 0; left--) {
                any = true;
                ready.remove().run();
            }
            any |= run(endOfTurn, endOfTurn.size());
            any |= run(costly, Math.min(costly.size(), COSTLY));
        } finally {
            turning = null;
        }
        boolean worked = run(workers.tasks, workers.tasks.size());
        return any || worked;
    }

    private static boolean run(Queue<Runnable> tasks, int count) {
        for (int left = count; left > 0; left--) {
            tasks.remove().run();
        }
        return count > 0;
    }

    private boolean runAlarms() {
        long made = alarmsMade;
        boolean any = false;
        for (; ; ) {
            SimulatedAlarm due;
            synchronized (alarms) {
                due = alarms.peek();
                if (due == null || due.deadline > clock.nanoTime() || due.number >= made) {
                    return any;
                }
                alarms.remove();
            }
            any = true;
            due.callback.onAlarm(true);
        }
    }

    /** Something has happened on a wire: its connection is served in the next turn. */
    void poke(MemoryWire wire) {
        SimulatedTransport transport = transports.get(wire);
        if (transport != null) {
            transport.onReady();
        }
    }

    void add(SimulatedTransport transport) {
        ready.add(transport);
    }

    /** Which wire the stream is on that will be attached. */
    void announce(ByteStream stream, MemoryWire wire) {
        wires.put(stream, wire);
    }

    /** It was attached, or never will be. */
    void announced(ByteStream stream) {
        wires.remove(stream);
    }

    void forget(MemoryWire wire) {
        transports.remove(wire);
    }

    /** Where callbacks run that do not run on the loop. */
    ExecutorService workers() {
        return workers;
    }

    /** The buffer that connections are read into, one after the other. */
    ByteBuffer cleared(int size) {
        if (input.capacity() < size) {
            input = ByteBuffer.allocateDirect(size);
        }
        return input.clear().limit(size);
    }

    // ---- What a server asks for ----

    @Override
    public Net net() {
        return Net.nio();
    }

    @Override
    public String backend() {
        return "memory";
    }

    @Override
    public boolean inLoop() {
        return Thread.currentThread().equals(turning);
    }

    @Override
    public long now() {
        return clock.nanoTime();
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public ByteBuffer output() {
        return output;
    }

    @Override
    public void execute(Runnable task) {
        handedOver.add(task);
    }

    @Override
    public AlarmKey schedule(long delayNanos, AlarmCallback callback) {
        return place(callback, delayNanos);
    }

    private SimulatedAlarm place(AlarmCallback callback, long delayNanos) {
        synchronized (alarms) {
            long deadline = clock.nanoTime() + Math.max(0, delayNanos);
            SimulatedAlarm alarm = new SimulatedAlarm(callback, alarmsMade++, deadline < 0 ? Long.MAX_VALUE : deadline);
            alarms.add(alarm);
            return alarm;
        }
    }

    /** As with a manager whose alarms fire once. */
    @Override
    public boolean rearm(AlarmKey key, long delayNanos) {
        return false;
    }

    @Override
    public void cancel(AlarmKey key) {
        boolean waiting;
        synchronized (alarms) {
            waiting = alarms.remove((SimulatedAlarm) key);
        }
        if (waiting) {
            ((SimulatedAlarm) key).callback.onAlarm(false);
        }
    }

    @Override
    public void atEndOfTurn(Runnable what) {
        endOfTurn.add(what);
    }

    @Override
    public void runSoon(Runnable what) {
        costly.add(what);
    }

    @Override
    public boolean sharesBuffer() {
        return true;
    }

    @Override
    public boolean hasOtherThreads() {
        return false;
    }

    @Override
    public StreamTransport attach(ByteStream stream, TransportSink sink, int bufferSize) {
        MemoryWire wire = wires.get(stream);
        if (wire == null) {
            throw new IllegalArgumentException("cannot watch " + stream + ": it is not a connection of this test");
        }
        SimulatedTransport transport = new SimulatedTransport(this, stream, wire, sink, bufferSize);
        transports.put(wire, transport);
        return transport;
    }

    @Override
    public Acceptor accept(StreamListener listener, Consumer<ByteStream> accepted, Consumer<IOException> failed) {
        throw new UnsupportedOperationException("cannot listen on " + listener + ": this loop is a test's");
    }

    @Override
    public String toString() {
        return "simulated loop at " + clock.nanoTime() + " ns";
    }

    private static final class SimulatedAlarm implements AlarmKey {
        private final AlarmCallback callback;
        private final long number;
        private final long deadline;

        SimulatedAlarm(AlarmCallback callback, long number, long deadline) {
            this.callback = callback;
            this.number = number;
            this.deadline = deadline;
        }
    }

    /** Runs callbacks between the turns. */
    private static final class Workers extends AbstractExecutorService {
        final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }
}
