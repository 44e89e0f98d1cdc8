package io.millrace.engine.watchdog;

/**
 * Lets the watchdog sleep while all reactors sleep, and lets a reactor that wakes call it back. {@link Heartbeat}
 * explains why neither overlooks the other.
 */
final class WatchdogSleep {
    private final Heartbeat[] heartbeats;
    private final Runnable callBack;
    private volatile boolean suspended;

    /**
     * Creates the sleep of a watchdog over some reactors.
     *
     * @param callBack unparks the watchdog
     */
    WatchdogSleep(Heartbeat[] heartbeats, Runnable callBack) {
        this.heartbeats = heartbeats;
        this.callBack = callBack;
    }

    /** Asks to sleep. Returns true if the watchdog may sleep until it is called back. */
    boolean suspend() {
        suspended = true;
        for (Heartbeat heartbeat : heartbeats) {
            if (heartbeat.isOdd()) {
                return false;
            }
        }
        return true;
    }

    /** The watchdog is awake. */
    void resume() {
        suspended = false;
    }

    /** Called by a reactor that has woken up. While there is traffic, this costs only a load. */
    void resumeIfSuspended() {
        if (suspended) {
            suspended = false;
            callBack.run();
        }
    }
}
