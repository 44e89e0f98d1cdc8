/**
 * The seam between the engine and servers: streams of bytes, without a word about how they are moved.
 *
 * <p><b>Who lives here.</b> A {@link io.millrace.engine.transport.ServerLoop} is one reactor as a server sees it. It accepts by an {@link io.millrace.engine.transport.Acceptor} and carries connections; each is a {@link
 * io.millrace.engine.transport.StreamTransport} that sends, and a {@link io.millrace.engine.transport.TransportHandler} that is told. On our own reactors these are {@code ReactorServerLoop}, {@code SocketAcceptor} and {@code SocketTransport}, which read
 * and write in the {@code LoopBuffer} of their loop; a completion kernel may serve the seam otherwise.
 *
 * <p><b>Who may call.</b> {@code server}, to which it is exported, and {@code Reactors}. {@link io.millrace.engine.transport.TransportAccess} leads from a manager to its loops: a qualified export opens a package, not what is private in a class that users see.
 */
package io.millrace.engine.transport;
