/**
 * The engine: reactors, and the two APIs on top of them.
 *
 * <p>A <em>reactor</em> is one thread with its own {@link io.millrace.poll.Poll}, a run queue by {@link
 * io.millrace.engine.Priority}, and alarms. There are two ways to use reactors:
 *
 * <ul>
 *   <li>{@link io.millrace.engine.EventManager}, modelled on gRPC's: tasks, alarms and descriptors. {@link
 *       io.millrace.engine.Reactors} is our implementation; you can write another one.
 *   <li>{@link io.millrace.engine.EventLoop}, modelled on Mill-IO's: sources, tokens and handlers, run by a thread of
 *       yours.
 * </ul>
 *
 * <p>{@link io.millrace.engine.Metrics} show what both of them do. {@link io.millrace.engine.pool} has pools of threads
 * and of objects.
 *
 * <p><b>The other packages</b> are not for users. {@code reactor} is the thread and its turn; {@code watchdog} observes
 * it from outside; {@code descriptor} has the descriptors that {@code Reactors} hands out; {@code transport} is the
 * interface to servers; {@code internal} has what shutdown and failure handling share.
 *
 * <p>There are more than 30 types because most are small ones of the API: interfaces of managers and descriptors, keys, results.
 *
 * <p><b>Who may call it.</b> Users, {@code server} and {@code cli}. Any thread, unless a method says otherwise; user
 * code never runs under a lock of the engine. <b>What it may call.</b> {@code poll}, {@code net} and {@code sys}.
 */
package io.millrace.engine;
