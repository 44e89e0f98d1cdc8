/**
 * One connection.
 *
 * <p><b>What lives here.</b> Start with {@link io.millrace.server.connection.StreamConnection}, whose comment follows a
 * byte from the kernel to the handler and back. It is one object in four layers: {@code SendGate}, {@code
 * ConnectionCalls}, {@code ConnectionOutput} and itself. Its parts exist only from when they are needed: {@code WriteQueue} and
 * {@code FileRegion} (what waits), {@code PendingWrites}, {@code Errands} (what is promised), {@code FrameDecoder}, {@code
 * IdleWatch}, {@code WriteWatch}, {@code Lingering}. {@link io.millrace.server.connection.ConnectionDispatcher} says where
 * callbacks run, and {@link io.millrace.server.connection.SerialExecutor} keeps those of one connection in order. {@link
 * io.millrace.server.connection.RelaySide} is here because it replaces the handler and the pauses of a connection; {@code
 * PauseHandshake} is how its two sides wait for each other. {@code
 * DebugBuffers} finds handlers that keep a buffer.
 *
 * <p>A connection knows its server or client as a {@link io.millrace.server.connection.ConnectionKeeper}, and the attempt
 * that opens it as a {@link io.millrace.server.connection.ConnectAttempt}.
 *
 * <p><b>Who may call it.</b> {@code loop}, {@code group}, {@code connect} and {@code io.millrace.server}; the package is
 * not exported. Each method says which thread may call it: the connection's loop, its callbacks, or any.
 *
 * <p><b>What it may call.</b> {@code support}, {@code framing}, the public types of {@code io.millrace.server}, and {@code
 * engine}, {@code net} and {@code poll}.
 */
package io.millrace.server.connection;
