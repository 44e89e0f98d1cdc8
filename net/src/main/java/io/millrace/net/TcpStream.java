package io.millrace.net;

import io.millrace.net.family.StreamCalls;
import io.millrace.poll.internal.Durations;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection. {@link ByteStream} says how its calls behave.
 *
 * <p><b>Connecting.</b> {@link #connect} begins; the stream becomes writable when the attempt has ended, and
 * {@link #finishConnect} tells how. Until that returned true, nothing can be read or written.
 *
 * <p><b>Options</b> are asked of the system each time, never remembered, and may be set as soon as the stream exists.
 *
 * <h2>Portability</h2>
 * The same for both families. The reason in a message is the kernel's {@code errno} on descriptors and NIO's own text on channels. A
 * connection by IPv4 shows IPv4 addresses, also if the socket speaks both. No call raises SIGPIPE.
 */
public final class TcpStream extends SocketStream<InetSocketAddress> {
    /** The most seconds that NIO takes, and every kernel. */
    private static final int MAX_LINGER_SECONDS = 65_535;

    private volatile @Nullable InetSocketAddress local;

    TcpStream(StreamCalls calls, InetSocketAddress remote, boolean connected) {
        super(remote, calls, connected);
    }

    @Override
    String kind() {
        return "TcpStream to";
    }

    /**
     * Begins to connect, with the default family: {@link Net#connect(InetSocketAddress)} of {@link Net#standard()}.
     *
     * @param address where to
     * @return a stream that is connecting, the caller's to close
     * @throws java.net.ConnectException if it is known at once that it cannot be reached
     * @throws IOException if the system refuses otherwise
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static TcpStream connect(InetSocketAddress address) throws IOException {
        return Net.standard().connect(address);
    }

    /**
     * Whether small writes go out at once instead of waiting for more (TCP_NODELAY).
     *
     * @return true if they are sent at once
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public boolean noDelay() throws IOException {
        return get(SocketSetting.NO_DELAY) != 0;
    }

    /**
     * Whether small writes go out at once instead of waiting for more (TCP_NODELAY). Off by default.
     *
     * @param on true to send at once
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public void setNoDelay(boolean on) throws IOException {
        set(SocketSetting.NO_DELAY, on ? 1 : 0);
    }

    /**
     * How the system finds out whether a silent peer is still there.
     *
     * @return the times, or null if it does not
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws UnsupportedOperationException if NIO cannot tell the times on this system
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
     * Has the system find out whether a silent peer is still there (SO_KEEPALIVE). Off by default. A peer that is not gives an
     * {@link IOException} from the next read, and the stream is reported readable.
     *
     * @param times when it asks, or null for never
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
     * What {@link #close} does about bytes that are not sent yet.
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
     * Says what {@link #close} does about bytes that are not sent yet (SO_LINGER): with null, the default, the system sends them in the
     * background; with zero they are thrown away, and the peer gets a reset instead of the end of the stream. With a longer time a
     * close <em>waits</em> for them on the thread that closes, and on Linux it does although the socket never waits otherwise: not for
     * loops. With a registered NIO channel it does not wait.
     *
     * @param time rounded up to seconds; or null
     * @throws java.nio.channels.ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the time is negative or above 65,535 seconds
     */
    public void setLinger(@Nullable Duration time) throws IOException {
        set(SocketSetting.LINGER, time == null ? -1 : Durations.wholeSeconds(time, "linger", 0, MAX_LINGER_SECONDS));
    }

    /**
     * This end's address. Asked of the system once.
     *
     * @return the address and port
     * @throws java.nio.channels.ClosedChannelException if the stream was closed before anybody asked
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
     * The peer's address: who connected, or where this stream connects to.
     *
     * @return the address and port, also after close
     */
    public InetSocketAddress remoteAddress() {
        return peer;
    }
}
