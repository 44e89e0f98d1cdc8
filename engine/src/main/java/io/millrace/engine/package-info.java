/**
 * The engine: reactors, and the two faces they have.
 *
 * <p>A <em>reactor</em> is one thread with its own {@link io.millrace.poll.Poll}, a run queue by {@link io.millrace.engine.Priority} and
 * alarms. {@link io.millrace.engine.EventManager} is gRPC's face of N of them: tasks, alarms, descriptors. {@link io.millrace.engine.Reactors} is ours; anyone may write another one.
 * {@link io.millrace.engine.EventLoop} is Mill-IO's: sources, tokens and handlers, on a thread of yours. {@link io.millrace.engine.Metrics} tell what both of them do.
 *
 * <p><b>Its rooms.</b> {@code reactor} is the thread and its turn; {@code watchdog} looks at it from outside; {@code descriptor} has what {@code Reactors} hands out as descriptors; {@code transport} is the seam to servers; {@code
 * internal} has what endings and failures share. None of these is for users. {@link io.millrace.engine.pool} is: pools of threads and of objects.
 *
 * <p>It may call {@code poll}, {@code net} and {@code sys}. User code never runs under a lock of the engine.
 */
package io.millrace.engine;
