package io.millrace.poll;

import io.millrace.poll.internal.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Makes a source of anything: hold one, return it from {@link Source#handle()}, and set its readiness when something happens.
 *
 * <p>It mirrors a socket on epoll. Setting readiness adds bits, unsetting takes them away; the readiness lasts until it is
 * unset, whether or not somebody is registered. A registered source is reported while ready (LEVEL), or when a bit is set,
 * even one that is set already (EDGE, ONESHOT). Concurrent sets and unsets never lose the final state; each takes effect in
 * one atomic step.
 *
 * <p><b>Threads.</b> Any thread may call any method. Setting never blocks and makes a system call only if the poll sleeps.
 *
 * <p><b>One poll.</b> A registration belongs to the first {@link Poll} that it is registered with, for life.
 *
 * <p><b>After close</b>, of this or of its poll, every method but {@link #update} does nothing: it is silent for ever.
 *
 * <h2>Portability</h2>
 * The same on every backend.
 */
public final class Registration implements Source, SourceHandle, AutoCloseable {
    final SoftNode node;
    private volatile @Nullable Registry registry;

    /** A registration that is ready for nothing and belongs to no poll yet. */
    public Registration() {
        this.node = new SoftNode();
    }

    /** For a timer, which the poll asks for its next deadline. */
    Registration(Timer<?> timer) {
        this.node = new SoftNode(timer, null);
    }

    @Override
    public SourceHandle handle() {
        return this;
    }

    /**
     * Adds readiness and notifies the poll, also of bits that are set already. Cancels a delay of these bits.
     *
     * <p>A poll that waits never misses it. If another thread sets readiness of the same registration at the same moment, a poll with timeout zero
     * that begins before that other call has returned may not see the event yet; the next one does.
     *
     * @param ready the bits to add
     */
    public void setReadiness(Readiness ready) {
        node.set(ready.bits());
    }

    /**
     * Takes readiness away. An event that a poll has already returned stays; it is spurious then.
     *
     * @param ready the bits to take away
     */
    public void unsetReadiness(Readiness ready) {
        node.unset(ready.bits());
    }

    /**
     * Makes the readiness exactly this, in one step, and notifies the poll if it is not empty. Cancels every delay.
     *
     * @param ready the new readiness
     */
    public void replaceReadiness(Readiness ready) {
        node.replace(ready.bits());
    }

    /**
     * Sets readiness after a delay: never early, and at most one tick of the poll late (see {@link Poll.Builder#tick}). Each bit has a
     * delay of its own: of two the earlier counts, and setting the bit at once cancels it. Starts no thread.
     *
     * @param ready the bits to set
     * @param delay how long to wait; a negative one counts as none
     * @throws IllegalStateException if it has never been registered: only a poll has a clock
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
     * What it is ready for now.
     *
     * @return the current readiness
     */
    public Readiness readiness() {
        return Readiness.of(node.readiness());
    }

    /**
     * Replaces interest and trigger and keeps the token: a reregister by the source itself.
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

    /** Silent for ever, and deregistered. Idempotent, from any thread. A poll that had it in its queue lets go of it when it polls next. */
    @Override
    public void close() {
        if (node.close()) {
            node.cancelDelays(); // also one that raced a deregister
            Registry at = registry;
            if (at != null) {
                at.detach(node);
            }
        }
    }

    /** Set by the poll under its control lock, before it looks whether the node is closed: see {@link #close}. */
    void bound(Registry to) {
        registry = to;
    }

    @Override
    public String toString() {
        return node.toString();
    }
}
