package io.millrace.engine.watchdog;

/** Whether the watchdog is away because all reactors sleep, and who calls it back: see {@link Heartbeat} for why neither overlooks the other. */
final class WatchdogSleep {
    private final Heartbeat[] heartbeats;
    private final Runnable callBack;
    private volatile boolean suspended;

    /**
     * A watchdogSleep over some reactors.
     *
     * @param callBack unparks the watchdog
     */
    WatchdogSleep(Heartbeat[] heartbeats, Runnable callBack) {
        this.heartbeats = heartbeats;
        this.callBack = callBack;
    }

    /** The watchdog would leave: true if it may, until it is called back. */
    boolean suspend() {
        suspended = true;
        for (Heartbeat heartbeat : heartbeats) {
            if (heartbeat.isOdd()) {
                return false;
            }
        }
        return true;
    }

    /** The watchdog is here. */
    void resume() {
        suspended = false;
    }

    /** A reactor has woken up; while there is traffic this costs it a load. */
    void stirred() {
        if (suspended) {
            suspended = false;
            callBack.run();
        }
    }
}
