/**
 * One place to wait for events.
 *
 * <p>{@link io.millrace.poll.Poll} merges the kernel's events, the software readiness queue and the timers in one call.
 * A {@link io.millrace.poll.Source} is what can be registered with it. {@link io.millrace.poll.Registration} turns
 * anything into a source; {@link io.millrace.poll.Channel} and {@link io.millrace.poll.Timer} are built on it.
 *
 * <p>To read the code, start with {@code Poll.poll}; then {@code SoftNode} for the one atomic word behind a software
 * source, and {@code ReadinessQueue} and {@code WakeGate} for how another thread reaches a sleeping poll.
 *
 * <p>There are more than 30 types because the 11 that implement {@code Poll} are package-private and stay so: in a
 * package of their own they, and what they use of the public classes, would have to be public.
 */
package io.millrace.poll;
