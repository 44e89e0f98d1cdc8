/**
 * Opening connections.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.connect.ConnectRace} tries the addresses of a host until one
 * answers; {@link io.millrace.server.connect.AddressOrder} says in which order, and {@link
 * io.millrace.server.connect.ConnectFailures} what went wrong with each.
 *
 * <p><b>Who may call it.</b> {@code TcpClient} and {@code KeptConnection}; the package is not exported. <b>What it may
 * call.</b> {@code group}, {@code connection}, {@code support}, the public types of {@code io.millrace.server}, and {@code
 * engine}, {@code net} and {@code poll}.
 */
package io.millrace.server.connect;
