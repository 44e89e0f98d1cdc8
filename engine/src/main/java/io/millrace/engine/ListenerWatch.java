package io.millrace.engine;

import io.millrace.net.StreamListener;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Watches a listener for a manager that cannot, on one reactor that all such managers share. It is created at the first
 * use, and its thread is a daemon. It only reports that a connection is waiting; the callback runs on the manager.
 */
final class ListenerWatch implements AcceptDescriptor {
    private static @Nullable Reactors shared;

    private final EventManager manager;
    private final Reactors watching;
    private final ReadinessDescriptor descriptor;

    ListenerWatch(EventManager manager, StreamListener listener) {
        this.manager = manager;
        this.watching = shared();
        this.descriptor = watching.register(listener);
    }

    private static synchronized Reactors shared() {
        Reactors present = shared;
        if (present == null) {
            present = Reactors.builder()
                    .reactors(1)
                    .name("millrace-accept")
                    .daemon(true)
                    .withoutWatchdog()
                    .open();
            shared = present;
        }
        return present;
    }

    @Override
    public void notifyWhenAcceptable(Runnable callback) {
        descriptor.notifyWhenReadable(() -> {
            try {
                manager.execute(callback);
            } catch (RejectedExecutionException e) {
                // The manager has ended, and with it the code that would accept.
            }
        });
    }

    @Override
    public boolean isClosed() {
        return descriptor.isClosed();
    }

    @Override
    public void close() {
        watching.delete(descriptor);
    }

    @Override
    public String toString() {
        return descriptor + " for " + manager;
    }
}
