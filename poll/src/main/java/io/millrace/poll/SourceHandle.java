package io.millrace.poll;

import io.millrace.poll.internal.KernelHandle;

/**
 * What stands for a {@link Source} in a {@link Poll}: a {@link Registration} for a source in software, or a handle of the
 * library's own for one that the kernel watches.
 */
public sealed interface SourceHandle permits Registration, KernelHandle {}
