package io.millrace.engine.reactor;

/** A thread that is nobody's but a loop's. It stops by a flag: an interrupt means nothing to it, and one that user code leaves behind is cleared before the next code runs. */
public class LoopThread extends Thread {
    public LoopThread(Runnable run, String name) {
        super(null, run, name, 0, false);
    }
}
