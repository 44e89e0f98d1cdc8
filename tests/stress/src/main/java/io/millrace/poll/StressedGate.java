package io.millrace.poll;

/** The gate of a poll, for tests of what sleeps behind it in other packages. */
public final class StressedGate {
    private final WakeGate gate = new WakeGate();

    /** As before a wait. */
    public void fallAsleep() {
        gate.fallAsleep();
    }

    /** As after something was handed over: whether the caller must wake the sleeper. */
    public boolean claimWake() {
        return gate.claimWake();
    }
}
