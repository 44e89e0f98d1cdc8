package io.millrace.poll;

import io.millrace.poll.internal.KernelHandle;
import org.jspecify.annotations.Nullable;

/** A source that the kernel watches. It has no word of its own: the kernel, or the backend's emulation, is the state. */
final class OsNode extends Node implements KernelHandle.Attachment {
    final Registry registry;
    final KernelHandle handle;
    /** A LEVEL registration whose kernel events all lie outside its interest is asked for as an edge, once per terms. */
    boolean muted;

    /** What is registered in the place of this node if the kernel will not watch the handle because it is always ready. */
    @Nullable
    SoftNode always;

    OsNode(Registry registry, KernelHandle handle) {
        this.registry = registry;
        this.handle = handle;
    }

    /** The node that is in the slab. */
    Node registered() {
        return always != null ? always : this;
    }

    @Override
    public void drained(int readiness) {
        registry.drained(this, readiness);
    }

    @Override
    public void detach() {
        registry.detach(registered());
    }

    @Override
    public String toString() {
        return handle + ", " + terms;
    }
}
