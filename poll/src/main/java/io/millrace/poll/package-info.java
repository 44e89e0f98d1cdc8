/**
 * One place to wait for events.
 *
 * <p><b>What lives here.</b> {@link io.millrace.poll.Poll} merges the kernel's events, the software readiness queue and
 * the timers in one call. A {@link io.millrace.poll.Source} is what can be registered with it. {@link
 * io.millrace.poll.Registration} turns anything into a source; {@link io.millrace.poll.Channel} and {@link
 * io.millrace.poll.Timer} are built on it. {@link io.millrace.poll.Notifier} is Tcl's event queue on a poll.
 *
 * <p>To read the code, start with {@code Poll.poll}; then {@code SoftNode} for the one atomic word behind a software
 * source, and {@code ReadinessQueue} and {@code WakeGate} for how another thread reaches a sleeping poll.
 *
 * <p>There are more than 30 types because the 11 that implement {@code Poll} are package-private and stay so: in a
 * package of their own they, and what they use of the public classes, would have to be public.
 *
 * <p><b>Who may call it.</b> Users, and every module above: {@code net}, {@code task}, {@code engine}, {@code server}.
 * Each class says which of its methods any thread may call, and which only the polling thread.
 *
 * <p><b>What it may call.</b> {@code poll.internal}, and {@code sys} for the kernel. It knows no sockets: those are
 * sources in {@code net}.
 */
package io.millrace.poll;
