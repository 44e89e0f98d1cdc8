package io.millrace.poll;

/** Who registered a source, if it wants to know of its end. */
interface SourceOwner {
    /** The source was closed, and so deregistered; once, by the closing thread, without a lock. Not called for a deregister. */
    void sourceClosed();
}
