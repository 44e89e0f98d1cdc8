package io.millrace.engine;

import io.millrace.net.ByteStream;
import io.millrace.net.StreamListener;
import io.millrace.net.UdpSocket;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;

/**
 * An {@link EventManager} that reads and writes, and reports when that is complete, like gRPC's event engine on libuv.
 */
public interface CompletionEventManager extends EventManager {
    /**
     * Takes over a connection, to read and write it. It is closed with the descriptor and cannot be taken back.
     *
     * @param stream a connection, established or connecting
     * @return a descriptor that reads and writes it
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     */
    CompletionDescriptor registerCompletion(ByteStream stream);

    /**
     * Takes over a datagram socket, to read and write it. It is closed with the descriptor and cannot be taken back.
     *
     * @param socket a bound socket
     * @return a descriptor that reads and writes it
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     */
    CompletionDescriptor registerCompletion(UdpSocket socket);

    /**
     * Watches a listener, for a server that runs on this manager. By default the library waits for it, on one daemon
     * thread that all managers share and that is started at the first use; the callbacks run on this manager. A manager
     * that can wait for listeners itself, like libuv's, should override this.
     *
     * @param listener belongs to the caller, which accepts from it and closes it
     * @return a descriptor that notifies you
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     * @throws java.util.concurrent.RejectedExecutionException if the manager has ended
     */
    default AcceptDescriptor registerAccept(StreamListener listener) {
        if (isTerminated()) {
            throw new RejectedExecutionException("cannot listen: the event manager has shut down");
        }
        return new ListenerWatch(Objects.requireNonNull(this), listener);
    }

    /**
     * Removes a descriptor. If it is not closed, it is closed first.
     *
     * @param descriptor a descriptor of this manager
     * @throws IllegalArgumentException if it belongs to another manager
     */
    void delete(CompletionDescriptor descriptor);
}
