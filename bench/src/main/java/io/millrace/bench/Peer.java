package io.millrace.bench;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.HashedWheelTimer;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DeadlineTimerWheel;
import org.agrona.collections.Long2ObjectHashMap;

/** One thread that runs what it is given, now or later: ours, and others beside it. A fork of a benchmark sees one of them. */
interface Peer extends AutoCloseable {
    /** Hands over a task that nobody will cancel. */
    void execute(Runnable task);

    /** Hands over a task that can be cancelled. */
    Object submit(Runnable task);

    /** Sets a timer; on its thread, for those that let one. */
    Object schedule(long delayNanos, Runnable task);

    void cancel(Object timer);

    @Override
    void close();

    static Peer of(String name) {
        return switch (name) {
            case "millrace" -> new Millrace();
            case "nettyEpoll" -> new Netty(EpollIoHandler.newFactory());
            case "nettyNio" -> new Netty(NioIoHandler.newFactory());
            case "nettyWheel" -> new NettyWheel();
            case "stpe" -> new Stpe();
            case "agrona" -> new Agrona();
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** As shipped: epoll, watchdog and metrics on. */
    final class Millrace implements Peer {
        final Reactors manager =
                Reactors.builder().reactors(1).backend("epoll").daemon(true).open();
        private final Clock clock = manager.clock();

        @Override
        public void execute(Runnable task) {
            manager.execute(task);
        }

        @Override
        public Object submit(Runnable task) {
            return manager.run(task, Priority.NORMAL);
        }

        @Override
        public Object schedule(long delayNanos, Runnable task) {
            return manager.schedule(
                    clock.nanoTime() + delayNanos,
                    fired -> {
                        if (fired) {
                            task.run();
                        }
                    },
                    Priority.NORMAL);
        }

        @Override
        public void cancel(Object timer) {
            manager.cancel((AlarmKey) timer);
        }

        @Override
        public void close() {
            manager.close();
        }
    }

    final class Netty implements Peer {
        private final MultiThreadIoEventLoopGroup group;
        private final EventLoop loop;

        Netty(IoHandlerFactory io) {
            group = new MultiThreadIoEventLoopGroup(1, io);
            loop = group.next();
        }

        @Override
        public void execute(Runnable task) {
            loop.execute(task);
        }

        @Override
        public Object submit(Runnable task) {
            return loop.submit(task);
        }

        @Override
        public Object schedule(long delayNanos, Runnable task) {
            return loop.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void cancel(Object timer) {
            ((io.netty.util.concurrent.Future<?>) timer).cancel(false);
        }

        @Override
        public void close() {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /** Netty's wheel, which has a thread of its own: timers only, set by the caller's thread. */
    final class NettyWheel implements Peer {
        private final HashedWheelTimer wheel = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 4096);

        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public Object submit(Runnable task) {
            throw new UnsupportedOperationException("timers only");
        }

        @Override
        public Object schedule(long delayNanos, Runnable task) {
            return wheel.newTimeout(timeout -> task.run(), delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void cancel(Object timer) {
            ((io.netty.util.Timeout) timer).cancel();
        }

        @Override
        public void close() {
            wheel.stop();
        }
    }

    final class Stpe implements Peer {
        private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

        Stpe() {
            executor.setRemoveOnCancelPolicy(true);
        }

        @Override
        public void execute(Runnable task) {
            executor.execute(task);
        }

        @Override
        public Object submit(Runnable task) {
            return executor.submit(task);
        }

        @Override
        public Object schedule(long delayNanos, Runnable task) {
            return executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void cancel(Object timer) {
            ((java.util.concurrent.Future<?>) timer).cancel(false);
        }

        @Override
        public void close() {
            executor.shutdownNow();
        }
    }

    /** Agrona's wheel knows numbers only, so a map from them to tasks belongs to the same work. The thread that sets timers polls them. */
    final class Agrona implements Peer {
        private static final long TICK = 1 << 20;

        private final DeadlineTimerWheel wheel =
                new DeadlineTimerWheel(TimeUnit.NANOSECONDS, System.nanoTime(), TICK, 4096, 256);
        private final Long2ObjectHashMap<Runnable> tasks = new Long2ObjectHashMap<>(1 << 21, 0.65f);
        private final DeadlineTimerWheel.TimerHandler handler = (unit, now, id) -> {
            tasks.remove(id).run();
            return true;
        };

        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public Object submit(Runnable task) {
            throw new UnsupportedOperationException("timers only");
        }

        @Override
        public Object schedule(long delayNanos, Runnable task) {
            long id = wheel.scheduleTimer(System.nanoTime() + delayNanos);
            tasks.put(id, task);
            return id;
        }

        @Override
        public void cancel(Object timer) {
            long id = (Long) timer;
            wheel.cancelTimer(id);
            tasks.remove(id);
        }

        /** What a loop around it would do. */
        void pollUntilEmpty() {
            while (wheel.timerCount() > 0) {
                long now = System.nanoTime();
                while (wheel.poll(now, handler, Integer.MAX_VALUE) > 0 || wheel.currentTickTime() < now) {
                    now = System.nanoTime();
                }
                LockSupport.parkNanos(TICK);
            }
        }

        @Override
        public void close() {}
    }
}
