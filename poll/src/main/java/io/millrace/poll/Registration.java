package io.millrace.poll;

import io.millrace.poll.internal.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Turns anything into a source: hold a registration, return its handle from {@link Source#handle()}, and set its
 * readiness when something happens.
 *
 * {@snippet :
 * final class Door implements Source {
 *   private final Registration registration = new Registration();
 *
 *   public SourceHandle handle() {
 *     return registration.handle();
 *   }
 *
 *   void open() { // called by any thread
 *     registration.setReadiness(Readiness.READABLE);
 *   }
 * }
 * }
 *
 * <p>It behaves like a socket on epoll. Setting readiness adds bits and unsetting removes them. Readiness lasts until
 * it is unset, whether or not the source is registered. A registered source is reported for as long as it is ready
 * (LEVEL), or each time a bit is set, even if the bit was set before (EDGE, ONESHOT). Each call takes effect in one
 * atomic step, so concurrent calls never lose the final state.
 *
 * <p><b>Threads.</b> Any thread may call any method. Setting readiness never blocks, and makes a system call only if
 * the poll is asleep.
 *
 * <p><b>One poll.</b> A registration belongs to the first {@link Poll} that it is registered with, for life.
 *
 * <p><b>After close</b>, either of the registration or of its poll, no method has any effect, except that {@link
 * #update} throws.
 *
 * <h2>Portability</h2>
 * The same on every backend.
 */
public final class Registration implements Source, SourceHandle, AutoCloseable {
    final SoftNode node;
    private volatile @Nullable Registry registry;

    /** Creates a registration that is not ready and does not belong to a poll yet. */
    public Registration() {
        this.node = new SoftNode();
    }

    /** Creates the registration of a timer, which the poll asks for its next deadline. */
    Registration(Timer<?> timer) {
        this.node = new SoftNode(timer, null);
    }

    @Override
    public SourceHandle handle() {
        return this;
    }

    /**
     * Adds readiness and notifies the poll, even if the bits were set before. Cancels pending delays of these bits.
     *
     * <p>A poll that waits never misses the change. If two threads set readiness of the same registration at the same
     * moment, a poll with timeout zero that begins before both calls have returned may not see the event yet; the next
     * one does.
     *
     * @param ready the bits to add
     */
    public void setReadiness(Readiness ready) {
        node.set(ready.bits());
    }

    /**
     * Removes readiness. An event that a poll has already returned stays, and is then spurious.
     *
     * @param ready the bits to remove
     */
    public void unsetReadiness(Readiness ready) {
        node.unset(ready.bits());
    }

    /**
     * Replaces the readiness in one atomic step, and notifies the poll if the new readiness is not empty. Cancels all
     * delays.
     *
     * @param ready the new readiness
     */
    public void replaceReadiness(Readiness ready) {
        node.replace(ready.bits());
    }

    /**
     * Sets readiness after a delay: never early, and at most one tick of the poll late (see {@link Poll.Builder#tick}).
     * Each bit has its own delay. If a bit has two delays, the earlier one counts; setting the bit directly cancels its
     * delay. Starts no thread.
     *
     * @param ready the bits to set
     * @param delay how long to wait; a negative delay counts as zero
     * @throws IllegalStateException if it was never registered, because only a poll has a clock
     */
    public void delayReadiness(Readiness ready, Duration delay) {
        int bits = ready.bits();
        long nanos = Durations.toNanos(delay);
        Registry at = registry;
        if (at == null) {
            throw new IllegalStateException(
                    "cannot delay readiness: the registration belongs to no poll yet; call Poll.register first");
        }
        if (nanos <= 0) {
            node.set(bits);
        } else if (node.terms != null) {
            node.delay(bits, at.clock.nanoTime() + nanos);
        }
    }

    /**
     * Returns the current readiness.
     *
     * @return the bits that are set
     */
    public Readiness readiness() {
        return Readiness.of(node.readiness());
    }

    /**
     * Replaces interest and trigger, but keeps the token: a reregistration by the source itself.
     *
     * @param interest the new interest
     * @param trigger the new trigger
     * @throws IllegalStateException if it is not registered
     */
    public void update(Interest interest, Trigger trigger) {
        Registry at = registry;
        if (at == null) {
            throw new IllegalStateException(
                    "cannot update: the registration is not registered; call Poll.register first");
        }
        at.update(node, interest, trigger);
    }

    /**
     * Deregisters it and makes it inert for good. Idempotent; any thread may call it. A poll that has it queued releases it
     * when it next polls.
     */
    @Override
    public void close() {
        if (node.close()) {
            node.cancelDelays(); // including one that raced with a deregister
            Registry at = registry;
            if (at != null) {
                at.detach(node);
            }
        }
    }

    /** Set by the poll under its control lock, before it checks whether the node is closed: see {@link #close}. */
    void bindTo(Registry to) {
        registry = to;
    }

    @Override
    public String toString() {
        return node.toString();
    }
}
