package io.millrace.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A port of the loopback interface where nobody listens, and which the system gives to nobody else: so a connection to it is
 * refused. A test that opens a listener and closes it has such a port only until another test is given the same one.
 *
 * <p>A listener that asks for this very port gets it, on Linux: so a server can come and go here.
 */
public final class HeldPort implements AutoCloseable {
    /** Bound, but it does not listen. */
    private final SocketChannel holder;

    private final InetSocketAddress address;

    private HeldPort(SocketChannel holder) throws IOException {
        this.holder = holder;
        this.address = (InetSocketAddress) holder.getLocalAddress();
    }

    /**
     * Holds a port that the system chooses.
     *
     * @return held until it is closed
     * @throws IOException if there is none
     */
    public static HeldPort open() throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            // So that a listener, which sets the same, may have the port besides.
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            return new HeldPort(channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Returns where nobody listens.
     *
     * @return the loopback address and the port
     */
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() throws IOException {
        holder.close();
    }
}
