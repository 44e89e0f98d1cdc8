/**
 * TCP servers and clients.
 *
 * <p>A {@link io.millrace.server.TcpServer} accepts connections and calls a {@link
 * io.millrace.server.ConnectionHandler}; a {@link io.millrace.server.TcpClient} opens them. The handler sends through a
 * {@link io.millrace.server.Connection}. {@link io.millrace.server.Framing} splits the bytes into messages, and {@link
 * io.millrace.server.Relay} passes them on to another connection.
 *
 * <p><b>What lives here.</b> What users see: the types above, {@link io.millrace.server.ConnectionBuilder} with the
 * settings of both, {@link io.millrace.server.ServerContext} and the result types. How they work is in packages that are not exported, from the bottom up: {@code support} has the settings and the
 * log, {@code framing} finds frames, {@code connection} is one connection, the place to start reading, {@code loop} runs
 * connections on event managers other than ours, {@code group} is what a server or client has once, and {@code connect}
 * opens connections. {@code HostedServers} is here because it needs the settings of a builder.
 *
 * <p><b>Who may call it.</b> Users, {@code testkit}, {@code cli} and {@code bench}. No module of the library depends on it.
 *
 * <p><b>What it may call.</b> Its own packages, {@code engine} with its {@code transport} and {@code internal} packages,
 * {@code net} and {@code poll}; never {@code sys}. It does not know the backend. The other packages of this module use the
 * types that users see, too; no signature that users see mentions theirs.
 */
package io.millrace.server;
