package io.millrace.engine.reactor;

import io.millrace.engine.TaskKey;
import io.millrace.engine.internal.FailureLog;

/** A task that can be cancelled, and its key. */
public final class KeyedTask extends Cancellable implements TaskKey {
    private final Runnable work;

    public KeyedTask(Reactor reactor, Runnable work) {
        super(reactor);
        this.work = work;
    }

    @Override
    public void run() {
        if (begin()) {
            try {
                work.run();
            } finally {
                end();
            }
        }
    }

    @Override
    public String toString() {
        return "task " + FailureLog.name(work);
    }
}
