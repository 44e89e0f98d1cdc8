/**
 * The seam between the engine and servers: streams of bytes, without a word about how they are moved.
 *
 * <p>A {@link io.millrace.engine.transport.TransportLoop} is one reactor as a server sees it. It accepts and carries connections; each is a {@link
 * io.millrace.engine.transport.StreamTransport} that sends, and a {@link io.millrace.engine.transport.TransportHandler} that is told. Readiness backends
 * serve it with recv and send inside the reactor; a completion kernel may serve it otherwise. Exported to {@code server} only.
 */
package io.millrace.engine.transport;
