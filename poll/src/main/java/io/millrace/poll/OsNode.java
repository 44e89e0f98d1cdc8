package io.millrace.poll;

import io.millrace.poll.internal.KernelHandle;
import org.jspecify.annotations.Nullable;

/**
 * A source that the kernel watches. It has no atomic word: its state is in the kernel, or in the backend's emulation.
 */
final class OsNode extends Node implements KernelHandle.Attachment {
    final Registry registry;
    final KernelHandle handle;
    /**
     * Whether a LEVEL registration whose kernel events are all outside its interest is registered as an edge; once per
     * terms.
     */
    boolean muted;

    /**
     * The node that is registered instead of this one, if the kernel does not watch the file because it is always
     * ready.
     */
    @Nullable
    SoftNode always;

    OsNode(Registry registry, KernelHandle handle) {
        this.registry = registry;
        this.handle = handle;
    }

    /** Returns the node that is in the slab. */
    Node registered() {
        return always != null ? always : this;
    }

    @Override
    public void markDrained(int readiness) {
        registry.markDrained(this, readiness);
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
