package io.millrace.engine;

import io.millrace.engine.reactor.Alarm;
import io.millrace.engine.reactor.EventSink;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.vthread.CarriedThread;
import io.millrace.poll.ClosedPollException;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.CloseObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One wait of a thread for a source, which a reactor watches.
 *
 * A thread that the reactor carries parks first; its carrier then registers the source. Any other thread registers it
 * and parks then. An event, the alarm, a close or the reactor's end answers it; an interrupted thread withdraws. A {@link
 * WaitGate} decides which of them it is, and that one cleans up: so the source is deregistered once, and is not registered
 * any more when the wait returns.
 *
 * <p><b>No wake-up is lost.</b> The answer is stored before the thread is unparked, and the thread looks for it before
 * each park.
 */
final class SourceWait implements EventSink, CloseObserver, Runnable {
    private final Reactor reactor;
    private final Source source;
    private final Interest interest;
    private final Thread thread = Thread.currentThread();
    private final @Nullable CarriedThread carried;
    private long limitNanos;

    private final WaitGate gate = new WaitGate();
    private volatile @Nullable Alarm alarm;

    /** On the reactor's thread: what the source is ready for. */
    private int bits;

    // ---- Written while ANSWERING ----
    private Readiness readiness = Readiness.NONE;
    private @Nullable String failure;
    private @Nullable Throwable refusal;

    SourceWait(Reactor reactor, Source source, Interest interest) {
        this.reactor = reactor;
        this.source = source;
        this.interest = interest;
        CarriedThread running = reactor.carried();
        this.carried = running != null && running.isCurrent() ? running : null;
    }

    // ---- The thread ----

    /** Waits; for any time if the limit is 0. */
    Readiness await(long nanos) throws InterruptedException, IOException {
        limitNanos = nanos;
        if (Thread.interrupted()) {
            throw interruption();
        }
        if (carried != null) {
            carried.afterPark(this::begin);
        } else {
            begin();
        }
        boolean interrupted = false;
        while (!gate.isDone()) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                if (withdraw()) {
                    throw interruption();
                }
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt(); // for the next wait: this one has its answer
        }
        return take();
    }

    private InterruptedException interruption() {
        return new InterruptedException("interrupted while waiting for " + source);
    }

    private Readiness take() throws IOException {
        switch (refusal) {
            case RuntimeException thrown -> throw thrown;
            case Error thrown -> throw thrown;
            case null, default -> {}
        }
        String reason = failure;
        if (reason != null) {
            throw new IOException("cannot wait for " + source + ": " + reason);
        }
        return readiness;
    }

    /** Gives up. Returns false if there is an answer, or will be in a moment. */
    private boolean withdraw() {
        WaitGate.Withdrawal withdrawal = gate.withdraw();
        if (withdrawal == WaitGate.Withdrawal.REGISTERED) {
            cleanUp();
        }
        return withdrawal != WaitGate.Withdrawal.TOO_LATE;
    }

    // ---- The carrier, or a thread that the reactor does not carry ----

    /** Has the reactor watch the source. */
    private void begin() {
        if (!gate.open()) {
            return; // withdrawn
        }
        boolean registered = false;
        try {
            reactor.register(source, 0, this, interest, Trigger.ONESHOT);
            registered = true;
            if (reactor.hasFinished()) {
                // Its last turn may have passed by before it was registered.
                onReactorEnd();
                return;
            }
            if (limitNanos != 0) {
                schedule();
            }
        } catch (ClosedPollException e) {
            end(registered, reactorEnded(), null);
            return;
        } catch (RuntimeException | Error e) {
            end(registered, null, e); // else the thread would wait for ever: the source's own code may have thrown it
            return;
        }
        if (!gate.opened()) {
            cancelAlarm(); // answered already, perhaps before there was an alarm
        }
    }

    private void schedule() {
        Alarm at = new Alarm(
                reactor,
                reactor.nanoTime() + limitNanos,
                0,
                0,
                fired -> {
                    if (fired) {
                        answer(Readiness.NONE);
                    }
                },
                Priority.NORMAL);
        alarm = at;
        try {
            reactor.schedule(at);
        } catch (RejectedExecutionException e) {
            // The reactor is in its last turn, which ends this wait.
        }
    }

    private void cleanUp() {
        try {
            reactor.poll.deregister(source);
        } catch (IllegalStateException | UncheckedIOException e) {
            // It was closed meanwhile, or the poll was; or the system does not know it.
        } finally {
            cancelAlarm();
        }
    }

    private void cancelAlarm() {
        Alarm present = alarm;
        if (present != null) {
            reactor.cancel(present);
        }
    }

    // ---- What answers ----

    @Override
    public void onReady(int ready) {
        if (bits == 0) {
            reactor.add(this, Priority.NORMAL);
        }
        bits |= ready;
    }

    /** Called when its turn comes in the run queue. */
    @Override
    public void run() {
        Readiness visible = reactor.visible(bits, interest);
        bits = 0;
        if (visible != Readiness.NONE) {
            answer(visible);
        } else {
            watchAgain();
        }
    }

    /** It was not the event that is waited for. The thread cannot withdraw meanwhile, and wait for the source anew. */
    private void watchAgain() {
        if (gate.reopen()) {
            try {
                reactor.poll.reregister(source, 0, interest, Trigger.ONESHOT);
            } catch (IllegalStateException e) {
                // Closed meanwhile.
            } catch (RuntimeException e) {
                end(true, null, e);
            } finally {
                gate.opened(); // in any case, or a thread that wants to withdraw would wait for ever
            }
        } else if (gate.isOpening()) {
            reactor.add(this, Priority.NORMAL); // another thread has registered it, and is about to have said so
        }
    }

    /** On the reactor's thread. If it carries the waiting thread, that runs within this call until it waits again. */
    private void answer(Readiness ready) {
        if (gate.tryAnswer()) {
            readiness = ready;
            cleanUpOrRefuse();
            gate.answered();
            if (carried != null) {
                carried.resume();
            } else {
                reactor.unparkSoon(thread);
            }
        }
    }

    @Override
    public void onReactorEnd() {
        end(true, reactorEnded(), null);
    }

    @Override
    public void onSourceClosed() {
        end(false, "it was closed", null);
    }

    private String reactorEnded() {
        return "its loop, " + reactor.name() + ", has ended";
    }

    /**
     * Answers with a failure. On any thread, which may be in the middle of something: so the waiting thread does not run
     * within this call.
     */
    private void end(boolean registered, @Nullable String reason, @Nullable Throwable thrown) {
        if (gate.tryAnswer()) {
            failure = reason;
            refusal = thrown;
            if (registered) {
                cleanUpOrRefuse();
            } else {
                cancelAlarm();
            }
            gate.answered();
            LockSupport.unpark(thread);
        }
    }

    /** Cleans up while ANSWERING. The thread waits for the answer, whatever the source's own code throws. */
    private void cleanUpOrRefuse() {
        try {
            cleanUp();
        } catch (RuntimeException | Error e) {
            refusal = e;
        }
    }

    @Override
    public String toString() {
        return "a wait of " + thread + " for " + source;
    }
}
