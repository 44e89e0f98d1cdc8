package io.millrace.poll;

import io.millrace.poll.internal.Slab;
import org.jspecify.annotations.Nullable;

/**
 * One registration in a poll's slab, of either kind.
 *
 * <p>{@link #terms} is replaced as a whole, under the poll's control lock, and read without it: a reader sees the token, interest
 * and trigger of one register or reregister call, never a mixture. Null means not registered.
 */
abstract sealed class Node extends Slab.Entry permits SoftNode, OsNode {
    volatile @Nullable RegistrationTerms terms;

    /**
     * The object to which the events of an event loop's source are delivered; null for other registrations. Written
     * before the terms of a registration are published.
     */
    @Nullable
    Object sink;
}
