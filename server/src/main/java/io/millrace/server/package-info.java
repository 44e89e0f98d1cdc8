/**
 * TCP servers and clients.
 *
 * <p>A {@link io.millrace.server.TcpServer} accepts connections and calls a {@link io.millrace.server.ConnectionHandler}; a {@link
 * io.millrace.server.Connection} is what the handler sends to. {@code Framing} cuts the bytes into messages. It is written against the stream transport of
 * the engine and knows no backend.
 */
package io.millrace.server;
