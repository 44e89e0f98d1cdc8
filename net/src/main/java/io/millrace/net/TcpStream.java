package io.millrace.net;

import io.millrace.poll.Handle;
import io.millrace.sys.Bits;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection. {@link Io} says how its calls behave.
 *
 * <p><b>Connecting.</b> {@link #connect} begins; the stream becomes writable when the attempt has ended, and
 * {@link #finishConnect} tells how. Until that returned true, nothing can be read or written.
 *
 * <p><b>Ending.</b> {@link #shutdownOutput} tells the peer that no more will come, and what it sends can still be read, up to
 * {@link #EOF}. A connection that the peer reset gives an {@link IOException} from the calls that follow; close it then.
 *
 * <p><b>Threads.</b> Any thread may call, one for each direction at a time. Close comes from any thread at any time.
 *
 * <h2>Portability</h2>
 * The same for both families. The reason in a message is the kernel's {@code errno} on descriptors and NIO's own text on channels. A
 * connection by IPv4 shows IPv4 addresses, also if the socket speaks both. No call raises SIGPIPE.
 */
public final class TcpStream implements Io {
    private final TcpTransport transport;
    private final ByteTransport bytes;
    private final InetSocketAddress remote;
    private volatile @Nullable InetSocketAddress local;
    private volatile boolean connected;
    private volatile boolean inputShut;
    private volatile boolean outputShut;

    TcpStream(TcpTransport transport, InetSocketAddress remote, boolean connected) {
        this.transport = transport;
        this.bytes = transport.bytes();
        this.remote = remote;
        this.connected = connected;
    }

    /**
     * Begins to connect, with the default family: {@link Net#connect} of {@link Net#standard()}.
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

    @Override
    public Handle handle() {
        return bytes.handle();
    }

    /**
     * Asks how the attempt to connect ended; call it when the stream is reported writable. Costs no system call once it returned true.
     *
     * @return true if the stream is connected; false while the attempt is under way
     * @throws java.net.ConnectException if it failed; the stream is closed then
     * @throws ClosedChannelException if the stream is closed
     */
    public boolean finishConnect() throws IOException {
        try {
            if (connected) {
                requireOpen();
                return true;
            }
            if (transport.finishConnect()) {
                connected = true;
                bytes.handle().drained(Bits.READABLE | Bits.WRITABLE);
                return true;
            }
            bytes.handle().drained(Bits.WRITABLE);
            return false;
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            close();
            throw Failures.connect(remote, e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Whether it was accepted, or {@link #finishConnect} returned true, and it is not closed. What the peer did since is not
     * asked.
     *
     * @return true if bytes can be moved
     */
    public boolean isConnected() {
        return connected && bytes.isOpen();
    }

    /**
     * Reads what is there, up to the buffer's room.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for a buffer without room
     * @throws ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset
     * @throws IllegalArgumentException if the buffer is read-only
     * @throws IllegalStateException if the stream is not connected yet
     */
    public int tryRead(ByteBuffer into) throws IOException {
        ByteTransport.requireWritable(into);
        if (!connected) {
            throw notConnected("read from");
        }
        try {
            if (inputShut) {
                requireOpen();
                return into.hasRemaining() ? EOF : 0;
            }
            return bytes.read(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes what the kernel has room for.
     *
     * @param from the bytes, from its position on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty buffer
     * @throws ClosedChannelException if the stream is closed
     * @throws IOException if the connection failed, e.g. was reset, or the output was shut down
     * @throws IllegalStateException if the stream is not connected yet
     */
    public int tryWrite(ByteBuffer from) throws IOException {
        if (!connected) {
            throw notConnected("write to");
        }
        try {
            if (outputShut) {
                requireOpen();
                throw new IOException("cannot write to " + this + ": its output was shut down by shutdownOutput()");
            }
            return bytes.write(from);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends no more: the peer reads to the end of the stream. Idempotent.
     *
     * @throws ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    public void shutdownOutput() throws IOException {
        if (!connected) {
            throw notConnected("shut down the output of");
        }
        try {
            transport.shutdownOutput();
            outputShut = true;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads no more: every further read is at the end of the stream, and what the peer sends is thrown away. The peer is not told.
     * Idempotent.
     *
     * @throws ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    public void shutdownInput() throws IOException {
        if (!connected) {
            throw notConnected("shut down the input of");
        }
        try {
            transport.shutdownInput();
            inputShut = true;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Whether small writes go out at once instead of waiting for more (TCP_NODELAY). Off by default.
     *
     * @param on true to send at once
     * @throws ClosedChannelException if the stream is closed
     * @throws IOException if the system refuses
     */
    public void setNoDelay(boolean on) throws IOException {
        try {
            transport.setNoDelay(on);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * This end's address. Asked of the system once.
     *
     * @return the address and port
     * @throws ClosedChannelException if the stream was closed before anybody asked
     * @throws IOException if the system refuses
     * @throws IllegalStateException if the stream is not connected yet
     */
    public InetSocketAddress localAddress() throws IOException {
        InetSocketAddress known = local;
        if (known != null) {
            return known;
        }
        if (!connected) {
            throw notConnected("tell the local address of");
        }
        try {
            InetSocketAddress asked = transport.localAddress();
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
        return remote;
    }

    @Override
    public void close() {
        bytes.handle().close();
    }

    private void requireOpen() throws ClosedChannelException {
        if (!bytes.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private IllegalStateException notConnected(String doing) {
        return new IllegalStateException("cannot " + doing + " " + this
                + ": not connected; when it is writable, call finishConnect() until it returns true");
    }

    @Override
    public String toString() {
        String state = !bytes.isOpen() ? ", closed" : connected ? "" : ", connecting";
        return "TcpStream to " + remote + state + ", " + bytes;
    }
}
