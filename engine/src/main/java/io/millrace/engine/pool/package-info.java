/**
 * Two pools, modelled on Mill-IO's; both can be used without a loop.
 *
 * <p><b>What lives here.</b> {@link io.millrace.engine.pool.ComputePool} runs tasks on its own threads, by priority and
 * age; its {@code ComputeQueue} chooses the next {@code ComputeTask}. {@link io.millrace.engine.pool.ObjectPool} lends
 * objects as {@link io.millrace.engine.pool.Pooled} handles and takes them back. Each has a snapshot of its numbers.
 *
 * <p><b>Who may call it.</b> Users, {@code EventLoop} and {@code server}. Any thread may call any method.
 *
 * <p><b>What it may call.</b> {@code engine.internal} for deadlines and failure reports, {@link
 * io.millrace.engine.Priority}, and the clock of {@code poll}. It knows no reactor.
 */
package io.millrace.engine.pool;
