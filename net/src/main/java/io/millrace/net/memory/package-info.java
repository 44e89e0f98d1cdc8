/**
 * Streams without a socket: the third family, for tests.
 *
 * <p><b>Contents.</b> A {@link io.millrace.net.memory.MemoryWire} is a connection as its peer sees it: it sends, reads, ends and resets. {@link
 * io.millrace.net.memory.MemoryStreams} makes the {@link io.millrace.net.TcpStream} at its other end, whose calls are {@code MemoryStream}.
 * Such a stream has no handle of the system, so no poll can watch it: whoever moves the wire tells the stream's owner.
 *
 * <p><b>Callers.</b> {@code testkit}, to which the package is exported, and {@code Net}, which supplies the implementation of {@link
 * io.millrace.net.memory.MemoryStreams}.
 */
package io.millrace.net.memory;
