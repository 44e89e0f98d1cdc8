package io.millrace.engine.reactor;

/**
 * A thread that belongs to a loop. It is stopped by a flag, so interrupts mean nothing to it; one that user code leaves
 * behind is cleared before other code runs.
 */
public class LoopThread extends Thread {
    public LoopThread(Runnable run, String name) {
        super(null, run, name, 0, false);
    }
}
