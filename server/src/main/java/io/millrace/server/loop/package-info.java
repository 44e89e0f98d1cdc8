/**
 * Loops on event managers other than ours.
 *
 * <p><b>What lives here.</b> A connection runs on a {@link io.millrace.engine.transport.ServerLoop}. On our own reactors
 * that is one of the engine's. On any other manager it is one of these, made of the descriptors and alarms that the
 * manager offers: {@link io.millrace.server.loop.ReadinessManagerLoop} if it tells when descriptors are ready, {@link
 * io.millrace.server.loop.CompletionManagerLoop} if it reads and writes itself. What they share, and where to start
 * reading, is {@link io.millrace.server.loop.ManagerServerLoop}.
 *
 * <p><b>Who may call it.</b> {@code group}, which chooses between them; the package is not exported. <b>What it may
 * call.</b> {@code SerialExecutor} of {@code connection}; {@code engine}, {@code net} and {@code poll}.
 */
package io.millrace.server.loop;
