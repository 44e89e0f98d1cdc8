/**
 * Virtual threads that run on a reactor's thread.
 *
 * <p><b>What lives here.</b> {@link io.millrace.engine.vthread.LoopThreads} finds out whether this JVM lets a program
 * choose the scheduler of a virtual thread, and creates such threads. {@link io.millrace.engine.vthread.CarriedThread}
 * is one of them: the scheduler of one thread, and what its reactor runs. A {@link
 * io.millrace.engine.vthread.ThreadCarrier} is the reactor as they see it.
 *
 * <p><b>Two questions.</b> A virtual thread on its loop <em>may wait</em>: it parks, and the loop goes on. It <em>may
 * not touch what belongs to the loop</em>, because it may leave the loop's thread at any lock, in the middle of
 * whatever it does; so {@code inLoop()} is false for it. What has to touch the loop is done by the carrier, while the
 * thread is not mounted ({@link io.millrace.engine.vthread.CarriedThread#onCarrier}), or consists of steps that cannot
 * wait.
 *
 * <p><b>Who may call it.</b> {@code reactor}, {@code transport} and the classes above them, and {@code server}. <b>What
 * it may call.</b> {@code internal}; it knows a reactor only as a carrier.
 */
package io.millrace.engine.vthread;
