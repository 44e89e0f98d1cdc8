/**
 * The way for {@code testkit} to run a server without sockets.
 *
 * <p><b>Contents.</b> {@link io.millrace.server.internal.ServerAccess} starts a {@link io.millrace.server.TcpServer} that listens nowhere, on a loop that it is given, and gets
 * its connections handed to it. Everything above the loop is the real thing.
 *
 * <p><b>Callers.</b> {@code testkit}, to which the package is exported, and {@code TcpServer}, which supplies the implementation.
 */
package io.millrace.server.internal;
