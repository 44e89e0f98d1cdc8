package io.millrace.poll.internal;

/** A sink that is told when its source is closed. */
public interface CloseObserver {
    /**
     * Called once the source has been closed and thereby deregistered: by the closing thread, without a lock. Not called
     * for a deregister.
     */
    void onSourceClosed();
}
