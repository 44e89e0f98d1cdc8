package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Requests to a manager that is ending, from callbacks that are told of the end: each is refused, or its callback is
 * called exactly once. There is no third way, however late the call comes and on whatever thread.
 */
@DisplayName("The last turn")
public abstract class LastTurnContract extends ManagerContract<ReadinessEventManager> {
    /** Repeated, because the threads interleave differently each time. */
    private static final int TIMES = 30;

    /** For subclasses. */
    protected LastTurnContract() {}

    /** Counts how many calls were accepted, and how many callbacks came. */
    private static final class Ledger {
        final AtomicInteger taken = new AtomicInteger();
        final AtomicInteger told = new AtomicInteger();

        void ask(Runnable call) {
            // Counted first, so that the callback cannot be ahead.
            taken.incrementAndGet();
            try {
                call.run();
            } catch (IllegalStateException | RejectedExecutionException e) {
                taken.decrementAndGet();
            }
        }

        void run() {
            told.incrementAndGet();
        }
    }

    private void askAndForce(ReadinessDescriptor descriptor, Ledger ledger) {
        ledger.ask(() -> descriptor.notifyWhenReadable(ledger::run));
        descriptor.forceReadable();
        ledger.ask(() -> descriptor.notifyWhenHasError(ledger::run));
        descriptor.forceHasError();
        ledger.ask(() -> descriptor.notifyWhenWritableOrTimeout(
                outcome -> ledger.run(), descriptor.manager().clock().nanoTime()));
    }

    private static void end(ReadinessEventManager ending) {
        Background.run(ending::close).result();
        assertThat(ending.isTerminated()).isTrue();
    }

    @Test
    @DisplayName("end-2, grpc-11: what an alarm that gets false asks of a descriptor, or forces, is told exactly once")
    void anAlarmAsks() {
        for (int i = 0; i < TIMES; i++) {
            ReadinessEventManager ending = closing(open());
            ReadinessDescriptor descriptor = ending.register(pipe().source());
            Ledger ledger = new Ledger();
            for (int alarms = 0; alarms < 3; alarms++) {
                ending.schedule(FAR, fired -> askAndForce(descriptor, ledger));
            }
            end(ending);
            assertThat(ledger.told).as("callbacks").hasValue(ledger.taken.get());
            Background.run(descriptor::forceReadable).result();
            assertThat(ledger.told).as("callbacks").hasValue(ledger.taken.get());
        }
    }

    @Test
    @DisplayName("end-2, grpc-11: what a callback that gets CLOSED asks of other descriptors is told exactly once")
    void aClosedCallbackAsks() {
        for (int i = 0; i < TIMES; i++) {
            ReadinessEventManager ending = closing(open());
            List<ReadinessDescriptor> all = List.of(
                    ending.register(pipe().source()),
                    ending.register(pipe().source()),
                    ending.register(pipe().source()));
            Ledger ledger = new Ledger();
            for (ReadinessDescriptor descriptor : all) {
                ledger.ask(() -> descriptor.notifyWhenReadableOrTimeout(
                        outcome -> { // CLOSED; or it was forced by another callback
                            ledger.run();
                            all.forEach(other -> askAndForce(other, ledger));
                        },
                        ending.clock().nanoTime() + FAR.toNanos()));
            }
            end(ending);
            assertThat(ledger.told).hasValueGreaterThanOrEqualTo(all.size());
            assertThat(ledger.told).as("callbacks").hasValue(ledger.taken.get());
        }
    }

    @Test
    @DisplayName("end-2, grpc-12: what is read or written in the last turn is done, closed or refused, exactly once")
    void aCompletionBegins() {
        assumeTrue(manager instanceof CompletionEventManager, "this manager has no completion descriptors");
        for (int i = 0; i < TIMES; i++) {
            ReadinessEventManager ending = closing(open());
            SocketPair pair = socketPair();
            SocketPair other = socketPair();
            CompletionDescriptor first = ((CompletionEventManager) ending).registerCompletion(pair.left());
            CompletionDescriptor second = ((CompletionEventManager) ending).registerCompletion(other.left());
            Ledger ledger = new Ledger();
            Runnable begin = () -> {
                for (CompletionDescriptor descriptor : List.of(first, second)) {
                    ledger.ask(() -> descriptor.read(() -> ByteBuffer.allocate(8), result -> ledger.run()));
                    ledger.ask(() -> descriptor.write(List.of(ByteBuffer.wrap(new byte[1])), result -> ledger.run()));
                }
            };
            ledger.ask(() -> first.read(() -> ByteBuffer.allocate(8), result -> {
                ledger.run();
                begin.run();
            }));
            ending.schedule(FAR, fired -> begin.run());
            end(ending);
            assertThat(ledger.told).as("callbacks").hasValue(ledger.taken.get());
        }
    }
}
