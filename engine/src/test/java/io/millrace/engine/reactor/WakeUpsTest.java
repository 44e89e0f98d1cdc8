package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Virtual threads that a reactor resumes elsewhere")
@Timeout(60)
class WakeUpsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Reactor reactor = new Reactor("reactor", new EngineSettings());

    @AfterEach
    void end() {
        reactor.finish(List.of());
    }

    /** A thread that ends when it is resumed, and has parked. */
    private static Thread parked(Thread.Builder kind) {
        Thread thread = kind.start(LockSupport::park);
        await().until(() -> thread.getState() == Thread.State.WAITING);
        return thread;
    }

    @Test
    @DisplayName("vt-4 each is resumed at the end of the turn, one or many; one that is not virtual, at once")
    void atTheEndOfTheTurn() throws Exception {
        for (int count : new int[] {1, 2, 100}) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                threads.add(parked(Thread.ofVirtual()));
            }
            Thread platform = parked(Thread.ofPlatform());
            List<Boolean> platformEnded = new ArrayList<>();
            reactor.execute(() -> {
                threads.forEach(reactor::unparkSoon);
                reactor.unparkSoon(platform);
                platformEnded.add(joined(platform));
                assertThat(threads).allMatch(thread -> thread.getState() == Thread.State.WAITING);
            });
            reactor.runOnce(0, null);
            assertThat(platformEnded).containsExactly(true);
            for (Thread thread : threads) {
                assertThat(thread.join(PATIENCE)).isTrue();
            }
        }
        assertThat(reactor.metrics.failures()).isZero();
    }

    private static boolean joined(Thread thread) {
        try {
            return thread.join(PATIENCE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("vt-4 another thread resumes one at once")
    void byAnotherThread() throws Exception {
        Thread thread = parked(Thread.ofVirtual());
        reactor.unparkSoon(thread);
        assertThat(thread.join(PATIENCE)).isTrue();
    }

    @Test
    @DisplayName("vt-3 a callback that waits for a lock which one of them holds gets it when the watchdog has looked")
    void holdsALock() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Thread holder = Thread.ofVirtual().start(() -> {
            lock.lock();
            LockSupport.park();
            lock.unlock();
        });
        await().until(() -> holder.getState() == Thread.State.WAITING);
        Thread loop = Thread.ofPlatform().start(() -> {
            reactor.execute(() -> {
                reactor.unparkSoon(holder);
                lock.lock();
                lock.unlock();
            });
            reactor.runOnce(0, null);
        });
        await().until(() -> lock.hasQueuedThread(loop));
        reactor.onBlocked();
        assertThat(loop.join(PATIENCE)).isTrue();
        assertThat(holder.join(PATIENCE)).isTrue();
    }

    @Test
    @DisplayName("vt-4 when nobody runs the loop any more, none waits for the end of a turn")
    void nobodyRunsIt() throws Exception {
        Thread thread = parked(Thread.ofVirtual());
        reactor.execute(() -> {
            for (int i = 0; i < 10_000; i++) {
                reactor.atEndOfTurn(() -> {}); // more than one turn does
            }
            reactor.unparkSoon(thread);
        });
        reactor.runOnce(0, null);
        assertThat(thread.join(PATIENCE)).isTrue();
    }
}
