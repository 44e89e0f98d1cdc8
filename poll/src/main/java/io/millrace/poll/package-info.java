/**
 * One place to wait. {@link io.millrace.poll.Poll} merges the kernel's events, the software readiness queue and the timers
 * in one call; {@link io.millrace.poll.Source} is what registers with it; {@link io.millrace.poll.Registration} makes a source
 * of anything; {@link io.millrace.poll.Channel} and {@link io.millrace.poll.Timer} are two that are made of it.
 *
 * <p>Where to begin reading: {@code Poll.poll}, then {@code SoftNode} for the one atomic word behind a software source, then
 * {@code ReadinessQueue} and {@code WakeGate} for how another thread reaches a sleeping poll.
 *
 * <p>It has more types than other packages: the parts of one poll share state that nobody else may see.
 */
package io.millrace.poll;
