package io.millrace.poll;

import io.millrace.poll.internal.KernelHandle;

/**
 * Represents a {@link Source} in a {@link Poll}: a {@link Registration} for a software source, or a handle of the
 * library for a source that the kernel watches.
 */
public sealed interface SourceHandle permits Registration, KernelHandle {}
