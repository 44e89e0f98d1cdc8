package io.millrace.net;

import io.millrace.net.family.StreamCalls;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection. {@link ByteStream} describes how to read and write.
 *
 * <p><b>Connecting.</b> {@link #connect} starts the attempt. When it has ended, the stream becomes writable, and {@link
 * #finishConnect} says how it ended. Until that has returned true, nothing can be read or written.
 *
 * {@snippet :
 * TcpStream stream = TcpStream.connect(address);
 * poll.register(stream, 7, Interest.READ_WRITE, Trigger.EDGE);
 * // when token 7 is reported writable:
 * if (stream.finishConnect()) { // throws ConnectException if the attempt failed
 *   stream.tryWrite(request);
 * }
 * }
 *
 * <p><b>Options</b> can be set as soon as the stream exists. They are read from the system each time and never cached.
 *
 * <h2>Portability</h2>
 * The same for both families. The reason in an exception's message is the kernel's {@code errno} for descriptors and
 * NIO's own text for channels. A connection over IPv4 shows IPv4 addresses, even if the socket supports both. No call
 * raises SIGPIPE.
 */
public final class TcpStream extends SocketStream<InetSocketAddress> {
    private volatile @Nullable InetSocketAddress local;

    TcpStream(StreamCalls calls, InetSocketAddress remote, boolean connected) {
        super(remote, calls, connected);
    }

    @Override
    String kind() {
        return "TcpStream to";
    }

    /**
     * Starts to connect, using the default family: {@link Net#connect(InetSocketAddress)} of {@link Net#standard()}.
     *
     * @param address the address to connect to
     * @return a connecting stream, which the caller must close
     * @throws java.net.ConnectException if it is known at once that the address cannot be reached
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static TcpStream connect(InetSocketAddress address) throws IOException {
        return Net.standard().connect(address);
    }

    /**
     * Returns whether small writes go out at once instead of waiting for more (TCP_NODELAY).
     *
     * @return true if they are sent at once
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public boolean noDelay() throws IOException {
        return get(SocketSetting.NO_DELAY) != 0;
    }

    /**
     * Sets whether small writes go out at once instead of waiting for more (TCP_NODELAY). Off by default.
     *
     * @param on true to send at once
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public void setNoDelay(boolean on) throws IOException {
        set(SocketSetting.NO_DELAY, on ? 1 : 0);
    }

    /**
     * Returns how the system checks whether a silent peer is still there.
     *
     * @return the times, or null if it does not check
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws UnsupportedOperationException if NIO cannot report the times on this system
     */
    public @Nullable KeepAlive keepAlive() throws IOException {
        if (get(SocketSetting.KEEP_ALIVE) == 0) {
            return null;
        }
        return new KeepAlive(
                Duration.ofSeconds(get(SocketSetting.KEEP_IDLE)),
                Duration.ofSeconds(get(SocketSetting.KEEP_INTERVAL)),
                get(SocketSetting.KEEP_COUNT));
    }

    /**
     * Sets whether and how the system checks that a silent peer is still there (SO_KEEPALIVE). Off by default. If the
     * peer is gone, the stream is reported readable, and the next read throws an {@link IOException}.
     *
     * @param times when to check, or null for never
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws UnsupportedOperationException if NIO cannot set the times on this system; nothing is changed then
     */
    public void setKeepAlive(@Nullable KeepAlive times) throws IOException {
        if (times == null) {
            set(SocketSetting.KEEP_ALIVE, 0);
            return;
        }
        for (Map.Entry<SocketSetting, Integer> each : times.settings().entrySet()) {
            set(each.getKey(), each.getValue());
        }
    }

    /**
     * Returns what {@link #close} does with bytes that have not been sent yet.
     *
     * @return how long it waits for them, or null if they are sent in the background
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public @Nullable Duration linger() throws IOException {
        int seconds = get(SocketSetting.LINGER);
        return seconds < 0 ? null : Duration.ofSeconds(seconds);
    }

    /**
     * Sets what {@link #close} does with bytes that have not been sent yet (SO_LINGER). With null, the default, the
     * system sends them in the background. With zero they are discarded, and the peer gets a reset instead of the end
     * of the stream. With a longer time, {@code close} <em>blocks</em> the calling thread until they are sent, on Linux
     * even though the socket is non-blocking; do not use this on an event loop. A registered NIO channel does not wait.
     *
     * @param time rounded up to seconds; or null
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the time is negative or above 65,535 seconds
     */
    public void setLinger(@Nullable Duration time) throws IOException {
        set(SocketSetting.LINGER, StreamTerms.lingerSeconds(time));
    }

    /**
     * Returns how routers are asked to treat the stream's packets.
     *
     * @return the octet of IPv4's type of service or IPv6's traffic class
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public int trafficClass() throws IOException {
        return get(SocketSetting.TRAFFIC_CLASS);
    }

    /**
     * Sets how routers are asked to treat the stream's packets: the octet of IPv4's type of service (IP_TOS) or of IPv6's traffic class
     * (IPV6_TCLASS). Its upper six bits are the code point of DiffServ; the lower two belong to congestion control, and most systems keep their own.
     *
     * @param octet from 0 to 255; 0 by default
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if it is out of that range
     */
    public void setTrafficClass(int octet) throws IOException {
        set(SocketSetting.TRAFFIC_CLASS, StreamTerms.requireTrafficClass(octet));
    }

    /**
     * Returns the local address. The system is asked only once.
     *
     * @return the address and port
     * @throws java.nio.channels.ClosedChannelException if the stream was closed before the first call
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    public InetSocketAddress localAddress() throws IOException {
        InetSocketAddress known = local;
        if (known != null) {
            return known;
        }
        requireConnected("tell the local address of");
        try {
            InetSocketAddress asked = calls.localAddress();
            local = asked;
            return asked;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the peer's address: the client that connected, or the address that this stream connects to.
     *
     * @return the address and port, even after close
     */
    public InetSocketAddress remoteAddress() {
        return peer;
    }
}
