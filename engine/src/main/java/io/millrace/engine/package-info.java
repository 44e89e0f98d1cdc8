/**
 * The engine: reactors, and the two faces they have.
 *
 * <p>A <em>reactor</em> is one thread with its own {@link io.millrace.poll.Poll}, a run queue by {@link io.millrace.engine.Priority} and
 * alarms. {@link io.millrace.engine.EventManager} is gRPC's face of N of them: tasks, alarms, descriptors; anyone may write another one.
 * {@link io.millrace.engine.EventLoop} is Mill-IO's: sources, tokens and handlers. {@link io.millrace.engine.ComputePool} and {@link
 * io.millrace.engine.ObjectPool} stand beside them.
 *
 * <p>It may call {@code poll}, {@code net} and {@code sys}. User code never runs under a lock of this package.
 */
package io.millrace.engine;
