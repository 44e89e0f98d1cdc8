package io.millrace.engine.vthread;

import org.jspecify.annotations.Nullable;

/** A loop as the virtual threads see it that run on its thread. */
public interface ThreadCarrier {
    /**
     * Runs a virtual thread in one of the loop's next turns; or elsewhere, if nobody runs the loop, it has ended, or is
     * blocked: it may be blocked by a lock that this thread holds. Never rejects it. Any thread.
     *
     * @param thread {@link CarriedThread#run} is called on the loop, or {@link CarriedThread#runElsewhere} on any thread
     */
    void submit(CarriedThread thread);

    /**
     * Returns whether the calling thread is the platform thread that runs the loop.
     *
     * @return false on a virtual thread, even if the loop carries it
     */
    boolean inLoop();

    /**
     * Sets which virtual thread the loop carries. On the loop only.
     *
     * @param thread null when it carries none
     */
    void setCarried(@Nullable CarriedThread thread);

    /**
     * Returns the virtual thread that the loop carries now. A thread that finds itself here is carried; what others
     * find may be out of date.
     *
     * @return null if it carries none
     */
    @Nullable
    CarriedThread carried();
}
