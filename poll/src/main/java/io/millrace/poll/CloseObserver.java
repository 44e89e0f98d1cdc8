package io.millrace.poll;

/** A sink that is told when its source is closed. */
interface CloseObserver {
    /** Called once the source has been closed and thereby deregistered: by the closing thread, without a lock. Not called for a deregister. */
    void onSourceClosed();
}
