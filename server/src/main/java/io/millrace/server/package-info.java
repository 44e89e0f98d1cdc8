/**
 * TCP servers and clients.
 *
 * <p>A {@link io.millrace.server.TcpServer} accepts connections and calls a {@link
 * io.millrace.server.ConnectionHandler}; a {@link io.millrace.server.TcpClient} opens them. The handler sends through a
 * {@link io.millrace.server.Connection}. {@link io.millrace.server.Framing} splits the bytes into messages.
 *
 * <p>The implementation uses the engine's stream transport and does not know the backend. Start with {@code
 * StreamConnection}.
 */
package io.millrace.server;
