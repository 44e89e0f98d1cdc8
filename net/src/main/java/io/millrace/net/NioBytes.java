package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.NioHandle;
import io.millrace.sys.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.WritableByteChannel;

/**
 * Bytes through a {@code java.nio} channel. NIO itself sees to it that a close waits for the calls under way.
 *
 * <p>NIO copies a heap buffer through a direct one of the same size, which it keeps for the thread: one large buffer would be paid for
 * ever. So such a call moves as much as the other family's does, and no more.
 */
final class NioBytes implements ByteTransport {
    private final SelectableChannel channel;
    private final OsHandle handle;

    /** A channel that does not block, and can do what will be asked of it. */
    NioBytes(SelectableChannel channel) {
        this.channel = channel;
        this.handle = new OsHandle(new NioHandle(channel));
    }

    @Override
    public OsHandle handle() {
        return handle;
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int asked = begin(into);
        if (asked == 0) {
            return 0;
        }
        int limit = into.limit();
        into.limit(into.position() + asked);
        try {
            return settle(((ReadableByteChannel) channel).read(into), asked, Bits.READABLE);
        } finally {
            into.limit(limit);
        }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        int asked = begin(from);
        if (asked == 0) {
            return 0;
        }
        int limit = from.limit();
        from.limit(from.position() + asked);
        try {
            return settle(((WritableByteChannel) channel).write(from), asked, Bits.WRITABLE);
        } finally {
            from.limit(limit);
        }
    }

    /** How many bytes to ask for. */
    private int begin(ByteBuffer buffer) throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
        return buffer.isDirect() ? buffer.remaining() : Math.min(buffer.remaining(), Scratch.MAX_BYTES);
    }

    /** Makes our result of NIO's, whose 0 is would-block, and tells the handle if the direction was drained. */
    int settle(int result, int asked, int direction) {
        if (result < 0) {
            return Io.EOF;
        }
        if (result < asked) {
            handle.drained(direction);
        }
        return result == 0 ? Io.WOULD_BLOCK : result;
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
