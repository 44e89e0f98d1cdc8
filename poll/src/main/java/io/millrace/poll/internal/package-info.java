/**
 * What other modules share with {@code poll} and users do not see.
 *
 * <p><b>What lives here.</b> The timer wheel and its parts; the slab of slots; {@link
 * io.millrace.poll.internal.KernelHandle}, which represents a source of {@code net} in a {@code Poll}; {@link
 * io.millrace.poll.internal.LeakTracker}; {@link io.millrace.poll.internal.Durations}; and {@link
 * io.millrace.poll.internal.PollAccess}, which gives the engine what {@code Poll} keeps from users.
 *
 * <p><b>Who may call it.</b> {@code net}, {@code engine} and {@code server}, to which it is exported, and {@code poll}
 * itself.
 *
 * <p><b>What it may call.</b> {@code io.millrace.poll} and {@code sys}.
 */
package io.millrace.poll.internal;
