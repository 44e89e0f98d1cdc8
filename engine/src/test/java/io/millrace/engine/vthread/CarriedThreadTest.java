package io.millrace.engine.vthread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A virtual thread on a loop")
class CarriedThreadTest {
    private final HandCrankedCarrier carrier = new HandCrankedCarrier();
    private final List<String> log = new ArrayList<>();

    /** A loop whose turns the test runs, on its own thread. */
    private static final class HandCrankedCarrier implements ThreadCarrier {
        /** The test's thread, which is not the one that creates this: the first to ask. */
        private volatile @Nullable Thread thread;

        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
        private boolean closed;
        private @Nullable CarriedThread carried;

        @Override
        public synchronized void submit(CarriedThread resumed) {
            if (closed) {
                resumed.runElsewhere();
            } else {
                queue.add(resumed);
                notifyAll();
            }
        }

        /** Runs what is queued, or waits for it. */
        private void turn() throws InterruptedException {
            Runnable next;
            synchronized (this) {
                while (queue.isEmpty()) {
                    wait();
                }
                next = queue.remove();
            }
            next.run();
        }

        private synchronized void close() {
            closed = true;
        }

        @Override
        public boolean inLoop() {
            if (thread == null) {
                thread = Thread.currentThread();
            }
            return Thread.currentThread() == thread;
        }

        @Override
        public void setCarried(@Nullable CarriedThread thread) {
            carried = thread;
        }

        @Override
        public @Nullable CarriedThread carried() {
            return carried;
        }
    }

    @Test
    @DisplayName("vt-2 it starts and resumes within the loop's call, on the loop's thread, and waits where it parks")
    void resumes() {
        AtomicInteger resumed = new AtomicInteger();
        CarriedThread thread = new CarriedThread(carrier, "test", () -> {
            log.add("began in " + Thread.currentThread().getName() + ", inLoop " + carrier.inLoop());
            while (resumed.get() == 0) {
                LockSupport.park();
            }
            log.add("resumed");
        });
        thread.start();
        assertThat(log).containsExactly("began in test, inLoop false");
        assertThat(carrier.carried()).isNull();
        resumed.set(1);
        thread.resume();
        assertThat(log).hasSize(2);
        assertThat(thread.thread().isAlive()).isFalse();
        assertThat(carrier.queue).isEmpty();
    }

    @Test
    @DisplayName("vt-3 what it asks its carrier for is done on the loop's platform thread, before it continues")
    void onCarrier() {
        CarriedThread[] self = new CarriedThread[1];
        self[0] = new CarriedThread(carrier, "test", () -> {
            Thread.currentThread().interrupt(); // does not matter
            boolean ran = self[0].onCarrier(() -> log.add("carrier " + carrier.inLoop() + ", "
                    + Thread.currentThread().isVirtual()));
            log.add("ran " + ran + ", " + Thread.currentThread().isInterrupted());
        });
        self[0].start();
        assertThat(log).containsExactly("carrier true, false", "ran true, true");
    }

    @Test
    @DisplayName("vt-3 while the loop carries one thread, another that is resumed waits for its turn")
    void notNested() throws Exception {
        CarriedThread other = new CarriedThread(carrier, "other", () -> log.add("other"));
        CarriedThread[] self = new CarriedThread[1];
        self[0] = new CarriedThread(carrier, "test", () -> {
            self[0].onCarrier(other::start);
            log.add("first");
        });
        self[0].start();
        assertThat(log).containsExactly("first");
        carrier.turn();
        assertThat(log).containsExactly("first", "other");
    }

    @Test
    @DisplayName("vt-3 after some calls that need not wait it goes behind the others")
    void givesWay() throws Exception {
        CarriedThread[] self = new CarriedThread[1];
        AtomicInteger calls = new AtomicInteger();
        self[0] = new CarriedThread(carrier, "test", () -> {
            for (int i = 0; i < 1000; i++) {
                calls.incrementAndGet();
                self[0].countCall();
            }
        });
        self[0].start();
        int turns = 1;
        while (self[0].thread().isAlive()) {
            int before = calls.get();
            assertThat(carrier.queue).hasSize(1);
            carrier.turn();
            turns++;
            assertThat(calls.get() - before).isLessThanOrEqualTo(128);
        }
        assertThat(turns).isGreaterThanOrEqualTo(1000 / 128);
    }

    /** What {@link Initialized} runs. */
    private static @Nullable Runnable inInitializer;

    /** Runs something in its initializer, where a virtual thread cannot leave its carrier. */
    private static final class Initialized {
        static {
            if (inInitializer != null) {
                inInitializer.run();
            }
        }

        private static void touch() {
            // initialized by then
        }
    }

    @Test
    @DisplayName("vt-3 a thread that cannot leave is told that its carrier has done nothing for it")
    void cannotLeave() {
        CarriedThread[] self = new CarriedThread[1];
        inInitializer = () -> log.add("ran " + self[0].onCarrier(() -> log.add("carrier")));
        self[0] = new CarriedThread(carrier, "test", () -> {
            Initialized.touch();
            Thread.yield(); // leaves, with nothing to be done
            log.add("then " + self[0].onCarrier(() -> log.add("carrier")));
        });
        self[0].start();
        assertThat(log).containsExactly("ran false", "carrier", "then true");
    }

    @Test
    @DisplayName("vt-3 however often it asks, what its carrier does is done before it continues, and not elsewhere")
    void asksOften() {
        CarriedThread[] self = new CarriedThread[1];
        AtomicInteger ran = new AtomicInteger();
        self[0] = new CarriedThread(carrier, "test", () -> {
            for (int i = 0; i < 200; i++) {
                if (!self[0].onCarrier(ran::incrementAndGet) || ran.get() != i + 1) {
                    log.add("wrong at " + i);
                }
            }
        });
        self[0].start();
        assertThat(carrier.queue).isEmpty();
        assertThat(ran).hasValue(200);
        assertThat(log).isEmpty();
    }

    @Test
    @DisplayName("vt-3 what fails on its carrier does not keep it from going on")
    void carrierFails() {
        CarriedThread[] self = new CarriedThread[1];
        self[0] = new CarriedThread(carrier, "test", () -> {
            self[0].onCarrier(() -> {
                throw new IllegalStateException("on purpose");
            });
            self[0].afterPark(() -> {
                self[0].resume();
                throw new IllegalStateException("on purpose");
            });
            LockSupport.park();
            self[0].flushAfterwards(() -> {
                throw new IllegalStateException("on purpose");
            });
            log.add("went on");
        });
        self[0].start();
        assertThat(log).containsExactly("went on");
        assertThat(carrier.carried()).isNull();
    }

    @Test
    @DisplayName(
            "vt-1 what it has gathered is flushed before its carrier does something else for it, and when it stops")
    void flushes() {
        CarriedThread[] self = new CarriedThread[1];
        self[0] = new CarriedThread(carrier, "test", () -> {
            self[0].flushAfterwards(() -> log.add("first"));
            self[0].onCarrier(() -> log.add("asked"));
            self[0].flushAfterwards(() -> log.add("second"));
            LockSupport.park();
        });
        self[0].start();
        assertThat(log).containsExactly("first", "asked", "second");
        self[0].resume();
        assertThat(log).hasSize(3);
    }

    @Test
    @DisplayName("vt-3 a thread that finds its answer whenever it has parked goes behind the others")
    void answeredAtOnce() throws Exception {
        CarriedThread[] self = new CarriedThread[1];
        AtomicInteger parks = new AtomicInteger();
        self[0] = new CarriedThread(carrier, "test", () -> {
            for (int i = 0; i < 1000; i++) {
                parks.incrementAndGet();
                self[0].afterPark(self[0]::resume);
                LockSupport.park();
            }
        });
        self[0].start();
        assertThat(parks.get()).isLessThanOrEqualTo(64);
        while (self[0].thread().isAlive()) {
            int before = parks.get();
            assertThat(carrier.queue).hasSize(1);
            carrier.turn();
            assertThat(parks.get() - before).isLessThanOrEqualTo(64);
        }
        assertThat(parks).hasValue(1000);
    }

    @Test
    @DisplayName("vt-2 the scheduler never rejects: after the loop's end a thread runs its finally elsewhere")
    void neverRejects() throws Exception {
        CompletableFuture<Thread> over = new CompletableFuture<>();
        CarriedThread thread = new CarriedThread(carrier, "test", () -> {
            try {
                LockSupport.park();
            } finally {
                over.complete(Thread.currentThread());
            }
        });
        thread.start();
        carrier.close();
        Thread elsewhere = Thread.ofPlatform().start(() -> LockSupport.unpark(thread.thread()));
        assertThat(over.get(10, TimeUnit.SECONDS)).isSameAs(thread.thread());
        elsewhere.join();
        assertThat(thread.thread().join(java.time.Duration.ofSeconds(10))).isTrue();
    }

    @Test
    @DisplayName("vt-4 a thread that was resumed on the loop while it ran elsewhere can be unparked there later")
    void resumedWhileElsewhere() throws Exception {
        AtomicInteger step = new AtomicInteger();
        CarriedThread thread = new CarriedThread(carrier, "test", () -> {
            LockSupport.park();
            step.set(1);
            while (step.get() == 1) {
                Thread.onSpinWait();
            }
            while (step.get() == 2) {
                LockSupport.park(); // the first of them returns at once
            }
        });
        thread.start();
        carrier.close(); // as if it were blocked
        LockSupport.unpark(thread.thread());
        await().until(() -> step.get() == 1);
        thread.resume(); // it has not parked, so nothing is submitted
        step.set(2);
        await().until(() -> thread.thread().getState() == Thread.State.WAITING);
        step.set(3);
        LockSupport.unpark(thread.thread());
        assertThat(thread.thread().join(java.time.Duration.ofSeconds(10))).isTrue();
    }

    @Test
    @DisplayName("vt-3 a thread that goes on elsewhere, while its loop does what it left behind, is not on the loop")
    void elsewhereIsNotOnTheLoop() throws Exception {
        CompletableFuture<String> elsewhere = new CompletableFuture<>();
        CarriedThread[] self = new CarriedThread[1];
        self[0] = new CarriedThread(carrier, "test", () -> {
            log.add("on the loop: " + self[0].isCurrent());
            self[0].afterPark(() -> {
                carrier.close(); // as if it were blocked
                Thread waker = Thread.ofPlatform().start(() -> LockSupport.unpark(self[0].thread()));
                elsewhere.orTimeout(10, TimeUnit.SECONDS).join();
                log.add("still carried: " + (carrier.carried() == self[0]));
                waker.interrupt();
            });
            LockSupport.park();
            elsewhere.complete("on the loop: " + self[0].isCurrent());
        });
        self[0].start();
        assertThat(elsewhere.join()).isEqualTo("on the loop: false");
        assertThat(log).containsExactly("on the loop: true", "still carried: true");
    }

    @Test
    @DisplayName("vt-5 it belongs to its loop, and a thread that it starts does not")
    void home() throws Exception {
        CompletableFuture<String> child = new CompletableFuture<>();
        CarriedThread thread = new CarriedThread(carrier, "test", () -> {
            log.add("home " + (LoopThreads.home() == carrier));
            Thread.ofVirtual().start(() -> child.complete("home " + LoopThreads.home()));
        });
        thread.start();
        assertThat(log).containsExactly("home true");
        assertThat(child.get(10, TimeUnit.SECONDS)).isEqualTo("home null");
        assertThat(LoopThreads.home()).isNull();
    }

    @Test
    @DisplayName("vt-2 what it sleeps and waits for brings it back to the loop")
    void comesBack() throws Exception {
        Object monitor = new Object();
        CompletableFuture<Void> started = new CompletableFuture<>();
        CarriedThread thread = new CarriedThread(carrier, "test", () -> {
            try {
                Thread.sleep(1);
                log.add("slept " + (carrier.carried() != null));
                started.complete(null);
                synchronized (monitor) {
                    log.add("entered " + (carrier.carried() != null));
                }
            } catch (InterruptedException e) {
                log.add("interrupted");
            }
        });
        CompletableFuture<Void> held = new CompletableFuture<>();
        Thread holder = Thread.ofPlatform().start(() -> {
            synchronized (monitor) {
                held.complete(null);
                started.join();
                while (thread.thread().getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
        });
        held.join();
        thread.start();
        if (log.isEmpty()) { // else the time was over before it had left
            carrier.turn();
        }
        assertThat(log).containsExactly("slept true");
        carrier.turn();
        assertThat(log).containsExactly("slept true", "entered true");
        holder.join();
    }

    @Test
    @DisplayName("vt-3 a virtual thread that it starts runs on the JDK's scheduler")
    void children() throws Exception {
        CompletableFuture<String> child = new CompletableFuture<>();
        CarriedThread thread = new CarriedThread(
                carrier,
                "test",
                () -> Thread.ofVirtual()
                        .start(() -> child.complete(Thread.currentThread().toString())));
        thread.start();
        assertThat(child.get(10, TimeUnit.SECONDS)).contains("ForkJoinPool");
    }

    @Test
    @DisplayName("vt-6 when it has ended, what it ran is not kept, though a virtual thread that it has started goes on")
    void keepsNothing() throws Exception {
        CompletableFuture<Thread> child = new CompletableFuture<>();
        Object[] used = {new Object()};
        WeakReference<Object> kept = new WeakReference<>(used[0]);
        start(child, used[0]);
        used[0] = null;
        assertThat(child.get(20, TimeUnit.SECONDS).isAlive()).isTrue();
        await().until(() -> {
            System.gc();
            return kept.refersTo(null);
        });
        LockSupport.unpark(child.join());
        child.join().join();
    }

    private void start(CompletableFuture<Thread> child, Object used) {
        CarriedThread thread = new CarriedThread(carrier, "test", () -> {
            child.complete(Thread.startVirtualThread(LockSupport::park));
            log.add(used.toString());
        });
        thread.start();
        assertThat(thread.thread().isAlive()).isFalse();
    }

    @Test
    @DisplayName("vt-2 an interrupt of the thread that runs the loop is kept for its owner")
    void interruptOfTheOwner() {
        Thread.currentThread().interrupt();
        new CarriedThread(
                        carrier,
                        "test",
                        () -> log.add("" + Thread.currentThread().isInterrupted()))
                .start();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(log).containsExactly("false");
    }
}
