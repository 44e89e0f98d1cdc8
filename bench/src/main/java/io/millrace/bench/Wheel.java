package io.millrace.bench;

import io.millrace.poll.internal.TimerWheel;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

/**
 * A structure that keeps deadlines: ours, and others. Each has ticks of about a millisecond and, if it is a wheel, 65,536 slots. The caller names its timers by numbers from
 * 0 to the capacity; what a structure gives out for one is kept by that number.
 */
abstract sealed class Wheel implements AutoCloseable {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int SLOTS = 65_536;

    static Wheel of(String name, int capacity) {
        return switch (name) {
            case "millrace" -> new Millrace(capacity);
            case "nettyWheel" -> new Netty(capacity);
            case "stpe" -> new Stpe(capacity);
            case "agrona" -> new Agrona(capacity);
            case "bare" -> new Bare(capacity);
            default -> throw new IllegalArgumentException(name);
        };
    }

    abstract void insert(int id, long delayNanos);

    /** Does nothing if it is not there. */
    abstract void cancel(int id);

    /** Those that cannot move a timer replace it. */
    void move(int id, long delayNanos) {
        cancel(id);
        insert(id, delayNanos);
    }

    /** Before timers are inserted of which so many will expire. */
    void expect(int count) {}

    /** Lets two seconds pass, or waits for the timers; so many must expire. */
    abstract void expire(int count) throws InterruptedException;

    /** Waits until a thread of its own has done what it was asked for. */
    void settle() throws InterruptedException {}

    /** Of the caller's thread, and of its own. */
    long cpuNanos() {
        return THREADS.getCurrentThreadCpuTime();
    }

    @Override
    public void close() {}

    static void require(int expected, int count) {
        if (count != expected) {
            throw new AssertionError(count + " expired, not " + expected);
        }
    }

    /** The one of poll, turned by hand. */
    static final class Millrace extends Wheel {
        private static final long TICK = 1_000_000;
        private static final Object VALUE = new Object();

        private final TimerWheel<Object> wheel;
        private final long[] keys;
        private long now;

        Millrace(int capacity) {
            wheel = new TimerWheel<>(TICK, SLOTS, capacity, 0);
            keys = new long[capacity];
            Arrays.fill(keys, -1);
        }

        @Override
        void insert(int id, long delayNanos) {
            keys[id] = wheel.schedule(now, delayNanos, VALUE);
        }

        @Override
        void cancel(int id) {
            wheel.cancel(keys[id]);
        }

        @Override
        void move(int id, long delayNanos) {
            wheel.reschedule(keys[id], now, delayNanos);
        }

        @Override
        void expire(int count) {
            int expired = 0;
            for (long end = now + 2_000_000_000L; now <= end; now += TICK) {
                wheel.advance(now);
                while (wheel.pollDue() != null) {
                    expired++;
                }
            }
            require(count, expired);
        }
    }

    /** Turned by hand, too. Keeps numbers only: what they stand for would be kept in a map beside it. */
    static final class Agrona extends Wheel {
        private static final long TICK = 1 << 20;

        private final DeadlineTimerWheel wheel = new DeadlineTimerWheel(TimeUnit.NANOSECONDS, 0, TICK, SLOTS, 16);
        private final long[] ids;
        private long now;
        private int expired;
        private final DeadlineTimerWheel.TimerHandler handler = (unit, time, id) -> {
            expired++;
            return true;
        };

        Agrona(int capacity) {
            ids = new long[capacity];
            Arrays.fill(ids, DeadlineTimerWheel.NULL_DEADLINE);
        }

        @Override
        void insert(int id, long delayNanos) {
            ids[id] = wheel.scheduleTimer(now + delayNanos);
        }

        @Override
        void cancel(int id) {
            if (ids[id] != DeadlineTimerWheel.NULL_DEADLINE) {
                wheel.cancelTimer(ids[id]);
                ids[id] = DeadlineTimerWheel.NULL_DEADLINE;
            }
        }

        @Override
        void expire(int count) {
            expired = 0;
            for (long end = now + 2_100_000_000L; now <= end; now += TICK) {
                while (wheel.poll(now, handler, Integer.MAX_VALUE) > 0 || wheel.currentTickTime() <= now) {
                    // goes on to the next tick
                }
            }
            require(count, expired);
        }
    }

    /**
     * The least that can be called a wheel: a deadline for each number and a list of numbers for each slot. No order within a tick, no values, no keys, no level above. It is
     * there to show what the memory alone costs on this machine.
     */
    static final class Bare extends Wheel {
        private static final long TICK = 1_000_000;
        private static final int MASK = SLOTS - 1;

        private final long[] deadlines;
        private final int[][] lists = new int[SLOTS][4];
        private final int[] sizes = new int[SLOTS];
        private long now;

        Bare(int capacity) {
            deadlines = new long[capacity];
            Arrays.fill(deadlines, Long.MAX_VALUE);
        }

        @Override
        void insert(int id, long delayNanos) {
            deadlines[id] = now + delayNanos;
            int slot = (int) (deadlines[id] / TICK + 1) & MASK;
            int size = sizes[slot];
            if (size == lists[slot].length) {
                lists[slot] = Arrays.copyOf(lists[slot], size * 2);
            }
            lists[slot][size] = id;
            sizes[slot] = size + 1;
        }

        @Override
        void cancel(int id) {
            deadlines[id] = Long.MAX_VALUE;
        }

        @Override
        void move(int id, long delayNanos) {
            deadlines[id] = now + delayNanos;
        }

        @Override
        void expire(int count) {
            int expired = 0;
            for (long end = now + 2_100_000_000L; now <= end; now += TICK) {
                int slot = (int) (now / TICK) & MASK;
                int[] list = lists[slot];
                int size = sizes[slot];
                int stay = 0;
                for (int i = 0; i < size; i++) {
                    if (deadlines[list[i]] <= now) {
                        deadlines[list[i]] = Long.MAX_VALUE;
                        expired++;
                    } else if (deadlines[list[i]] != Long.MAX_VALUE) {
                        list[stay++] = list[i];
                    }
                }
                sizes[slot] = stay;
            }
            require(count, expired);
        }
    }

    /** Those with a thread and a clock of their own. */
    abstract static sealed class Threaded extends Wheel {
        private volatile long thread;
        private volatile CountDownLatch expired = new CountDownLatch(0);

        final ThreadFactory factory = work -> {
            Thread made = new Thread(work, "wheel");
            made.setDaemon(true);
            thread = made.threadId();
            return made;
        };
        final Runnable task = () -> expired.countDown();

        abstract void barrier(Runnable then);

        @Override
        void expect(int count) {
            expired = new CountDownLatch(count);
        }

        @Override
        void expire(int count) throws InterruptedException {
            expired.await();
        }

        @Override
        void settle() throws InterruptedException {
            CountDownLatch passed = new CountDownLatch(1);
            barrier(passed::countDown);
            passed.await();
        }

        @Override
        long cpuNanos() {
            return super.cpuNanos() + Math.max(0, THREADS.getThreadCpuTime(thread));
        }
    }

    /** Netty's. What is inserted goes through a queue to its thread. */
    static final class Netty extends Threaded {
        private final HashedWheelTimer wheel;
        private final Timeout[] timeouts;
        private final io.netty.util.TimerTask expires = timeout -> task.run();

        Netty(int capacity) {
            wheel = new HashedWheelTimer(factory, 1, TimeUnit.MILLISECONDS, SLOTS, false);
            timeouts = new Timeout[capacity];
            wheel.start();
        }

        @Override
        void insert(int id, long delayNanos) {
            timeouts[id] = wheel.newTimeout(expires, delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        void cancel(int id) {
            if (timeouts[id] != null) {
                timeouts[id].cancel();
                timeouts[id] = null;
            }
        }

        @Override
        void barrier(Runnable then) {
            wheel.newTimeout(timeout -> then.run(), 0, TimeUnit.NANOSECONDS);
        }

        @Override
        public void close() {
            wheel.stop();
        }
    }

    /** The JDK's heap. */
    static final class Stpe extends Threaded {
        private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, factory);
        private final Future<?>[] futures;

        Stpe(int capacity) {
            executor.setRemoveOnCancelPolicy(true);
            executor.prestartCoreThread();
            futures = new Future<?>[capacity];
        }

        @Override
        void insert(int id, long delayNanos) {
            futures[id] = executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        void cancel(int id) {
            if (futures[id] != null) {
                futures[id].cancel(false);
                futures[id] = null;
            }
        }

        @Override
        void barrier(Runnable then) {
            executor.execute(then);
        }

        @Override
        public void close() {
            executor.shutdownNow();
        }
    }
}
