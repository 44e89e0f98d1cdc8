package io.millrace.sys;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;

/** A {@code java.nio} channel as a handle. NIO itself keeps a closing channel's descriptor until its keys are gone. */
public final class NioHandle implements SystemHandle {
    private final SelectableChannel channel;

    /** Whoever waits for this one alone: NIO does not end a select when a channel is closed. */
    public final Waiters waiters = new Waiters();

    /** Whether its close has told the peer, so that it matters to nobody when the descriptor goes. */
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
        // NIO counts by itself: see the class comment.
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
            // The descriptor is gone either way; nothing is left to do but to say so.
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "closing " + channel, e);
        }
        waiters.wakeAll();
    }

    /**
     * A closing NIO channel that is still registered shuts its connection down, and closes it when its key is gone; but with SO_LINGER, as for a reset, or while it connects, it does
     * nothing before that, and no other kind of channel does.
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
     * Whether it has not been closed.
     *
     * @return false for ever, once it was
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
