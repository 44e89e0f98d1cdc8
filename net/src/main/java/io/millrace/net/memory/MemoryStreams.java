package io.millrace.net.memory;

import io.millrace.net.Net;
import io.millrace.net.TcpStream;
import io.millrace.net.family.StreamCalls;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes streams that have no socket. Implemented in the package of {@link TcpStream}, which hands it over here; so none of it is public there. */
public abstract class MemoryStreams {
    private static volatile @Nullable MemoryStreams instance;

    /** For the one implementation. */
    protected MemoryStreams() {}

    /**
     * By the class {@link Net}, when it is initialised.
     *
     * @param streams the implementation
     */
    public static void set(MemoryStreams streams) {
        instance = streams;
    }

    /**
     * Makes a connected stream.
     *
     * @param wire its peer
     * @param local its own address
     * @param remote the peer's address
     * @return a stream, the caller's to close, which cannot be registered with a poll
     */
    public static TcpStream open(MemoryWire wire, InetSocketAddress local, InetSocketAddress remote) {
        Net.nio(); // so that Net is initialised
        return Objects.requireNonNull(instance).open(new MemoryStream(wire, local), remote);
    }

    /**
     * Makes a connected stream.
     *
     * @param calls its calls
     * @param remote the peer's address
     * @return a stream
     */
    protected abstract TcpStream open(StreamCalls calls, InetSocketAddress remote);
}
