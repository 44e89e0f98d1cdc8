package io.millrace.sys;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;

/**
 * A handle for a {@code java.nio} channel. NIO itself keeps the descriptor of a closing channel until its keys are
 * gone.
 */
public final class NioHandle implements SystemHandle {
    private final SelectableChannel channel;

    /** The threads that wait for this channel alone: NIO does not end a select when a channel is closed. */
    public final Waiters waiters = new Waiters();

    /** Whether closing it has told the peer, so that it does not matter when the descriptor itself is closed. */
    private volatile boolean peerTold;

    public NioHandle(SelectableChannel channel) {
        if (channel.isBlocking()) {
            throw new IllegalArgumentException(
                    "a channel must be non-blocking to be waited for; call configureBlocking(false) on " + channel);
        }
        this.channel = channel;
    }

    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public boolean acquire() {
        return channel.isOpen();
    }

    @Override
    public void release() {
        // NIO counts uses itself: see the class comment.
    }

    @Override
    public boolean reportsWouldBlock() {
        return true;
    }

    public void close() {
        boolean tells = tellsPeer();
        try {
            channel.close();
            peerTold = tells;
        } catch (IOException e) {
            // The descriptor is gone in any case; all that is left is to log it.
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "closing " + channel, e);
        }
        waiters.wakeAll();
    }

    /**
     * When a NIO channel is closed while it is registered, NIO shuts down the connection, and closes it when its key is
     * gone. But with SO_LINGER (also when used for a reset), or while it is connecting, it does nothing before that;
     * and so it is with other kinds of channels.
     */
    private boolean tellsPeer() {
        try {
            return channel instanceof SocketChannel connection
                    && connection.isConnected()
                    && connection.getOption(StandardSocketOptions.SO_LINGER) < 0;
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /**
     * Returns whether it has not been closed.
     *
     * @return false once it was closed
     */
    public boolean isOpen() {
        return channel.isOpen();
    }

    public boolean isPeerTold() {
        return peerTold;
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
