package io.millrace.poll;

import io.millrace.poll.internal.OsHandle;

/** A source that the kernel watches. It has no word of its own: the kernel, or the backend's emulation, is the state. */
final class OsNode extends Node implements OsHandle.Attachment {
    final Registry registry;
    final OsHandle handle;
    /** A LEVEL registration whose kernel events all lie outside its interest is asked for as an edge, once per terms. */
    boolean muted;

    OsNode(Registry registry, OsHandle handle) {
        this.registry = registry;
        this.handle = handle;
    }

    @Override
    public void drained(int readiness) {
        registry.drained(this, readiness);
    }

    @Override
    public void detach() {
        registry.detach(this);
    }

    @Override
    public String toString() {
        return handle + ", " + terms;
    }
}
