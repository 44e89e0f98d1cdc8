package io.millrace.sys;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.SelectableChannel;

/** A {@code java.nio} channel as a handle. NIO itself keeps a closing channel's descriptor until its keys are gone. */
public final class NioHandle implements Handle {
    private final SelectableChannel channel;

    /** Whoever waits for this one alone: NIO does not end a select when a channel is closed. */
    final Waiters waiters = new Waiters();

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
        try {
            channel.close();
        } catch (IOException e) {
            // The descriptor is gone either way; nothing is left to do but to say so.
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "closing " + channel, e);
        }
        waiters.wakeAll();
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
