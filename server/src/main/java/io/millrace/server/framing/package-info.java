/**
 * How frames are found.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.framing.FrameBuffer} keeps the bytes of a frame that is not complete
 * and shows them to a {@link io.millrace.server.Framing}; {@link io.millrace.server.framing.FramingKinds} are the framings
 * that we supply, and {@link io.millrace.server.framing.FramedHandler} is a handler with a framing. None of them knows a
 * connection: {@code FrameDecoder}, which calls its handler, is a part of the connection and lives in {@code connection}.
 *
 * <p><b>Who may call it.</b> {@code connection} and {@code io.millrace.server}; the package is not exported. <b>What it
 * may call.</b> {@code support}, the public types of {@code io.millrace.server}, and {@code poll}.
 */
package io.millrace.server.framing;
