/**
 * TCP servers and clients.
 *
 * <p>A {@link io.millrace.server.TcpServer} accepts connections and calls a {@link
 * io.millrace.server.ConnectionHandler}; a {@link io.millrace.server.TcpClient} opens them. The handler sends through a
 * {@link io.millrace.server.Connection}. {@link io.millrace.server.Framing} splits the bytes into messages.
 *
 * <p><b>Who lives here.</b> For users: the types above, {@link io.millrace.server.ServerContext} and the results. Of a connection: {@code
 * StreamConnection}, where to start reading, its superclass {@code SendGate}, which admits sends, and its {@code WriteQueue}. Of a server: {@code
 * Connections} (those that are open), {@code SendBudget}, {@code CallbackExecutor} (where callbacks run) and {@code LoopGroup}. {@code
 * ManagerServerLoop} is a loop on an event manager that is not ours.
 *
 * <p><b>What it may call.</b> {@code engine} with its {@code transport} and {@code internal} packages, {@code net}, and {@code poll}; never {@code sys}. It does not
 * know the backend.
 */
package io.millrace.server;
