package io.millrace.engine;

import io.millrace.net.ByteStream;
import io.millrace.net.UdpSocket;

/** An {@link EventManager} that reads and writes, and tells when that is done: gRPC's libuv flavour. */
public interface CompletionEventManager extends EventManager {
    /**
     * Reads and writes a connection from now on. It is closed with the descriptor, and cannot be taken back.
     *
     * @param stream a connection, or one that is being made
     * @return what reads and writes it
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     */
    CompletionDescriptor registerCompletion(ByteStream stream);

    /**
     * Reads and writes datagrams from now on. The socket is closed with the descriptor, and cannot be taken back.
     *
     * @param socket bound
     * @return what reads and writes it
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     */
    CompletionDescriptor registerCompletion(UdpSocket socket);

    /**
     * Forgets a descriptor. One that is not closed is closed first.
     *
     * @param descriptor of this manager
     * @throws IllegalArgumentException if it is another manager's
     */
    void delete(CompletionDescriptor descriptor);
}
