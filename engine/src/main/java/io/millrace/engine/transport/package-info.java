/**
 * The interface between the engine and servers: streams of bytes, independent of how they are moved.
 *
 * <p><b>What lives here.</b> A {@link io.millrace.engine.transport.ServerLoop} is one reactor as a server sees it. It accepts
 * with an {@link io.millrace.engine.transport.Acceptor} and carries connections; each consists of a {@link
 * io.millrace.engine.transport.StreamTransport}, which sends, and a {@link
 * io.millrace.engine.transport.TransportSink}, which is called. On our own reactors these are {@code
 * ReactorServerLoop}, {@code SocketAcceptor} and {@code SocketTransport}, which read and write through the {@code
 * LoopBuffer} of their loop. A completion-based kernel interface could implement them differently.
 *
 * <p><b>Who may call it.</b> {@code server} and {@code testkit}, to which the package is exported, and {@code Reactors}. {@link
 * io.millrace.engine.transport.TransportAccess} leads from a manager to its loops; it is needed because a qualified
 * export opens a package, but not the private parts of a public class. <b>What it may call.</b> {@code reactor}, {@code
 * internal}, {@code net}, {@code poll} and, for the two system calls of a message, {@code sys}.
 */
package io.millrace.engine.transport;
