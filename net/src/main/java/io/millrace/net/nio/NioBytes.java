package io.millrace.net.nio;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.NioHandle;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.call.Scratch;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.WritableByteChannel;

/**
 * Moves bytes through a {@code java.nio} channel. NIO itself makes a close wait for calls in progress.
 *
 * <p>NIO copies a heap buffer through a direct one of the same size, which it caches for the thread, so that one large
 * buffer would be paid for from then on. Therefore such a call moves no more than with descriptors: 64 buffers at a
 * time, and 64 KiB of those that are copied.
 */
sealed class NioBytes implements ByteCalls permits NioStream {
    private final SelectableChannel channel;
    final KernelHandle handle;

    /** Creates the calls of a non-blocking channel that supports what will be asked of it. */
    NioBytes(SelectableChannel channel) {
        this.channel = channel;
        this.handle = new KernelHandle(new NioHandle(channel));
    }

    @Override
    public final KernelHandle handle() {
        return handle;
    }

    @Override
    public final boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public final int read(ByteBuffer into) throws IOException {
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
    public final int write(ByteBuffer from) throws IOException {
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

    @Override
    public final int read(ByteBuffer[] into, int offset, int length) throws IOException {
        return move(into, offset, length, Bits.READABLE);
    }

    @Override
    public final int write(ByteBuffer[] from, int offset, int length) throws IOException {
        return move(from, offset, length, Bits.WRITABLE);
    }

    /** Takes as many buffers as the limits allow; the limit of the last one is reduced during the call. */
    private int move(ByteBuffer[] buffers, int offset, int length, int direction) throws IOException {
        requireOpen();
        int asked = 0;
        int heap = 0;
        int count = 0;
        int cutLimit = -1;
        int most = Math.min(length, Iovecs.MAX_BUFFERS);
        while (count < most && cutLimit < 0) {
            ByteBuffer each = buffers[offset + count];
            int remaining = each.remaining();
            int room = Iovecs.MAX_BYTES - asked;
            int taken = Math.min(remaining, each.isDirect() ? room : Math.min(room, Scratch.MAX_BYTES - heap));
            if (taken < remaining) {
                cutLimit = each.limit();
                each.limit(each.position() + taken);
            }
            asked += taken;
            heap += each.isDirect() ? 0 : taken;
            count++;
        }
        try {
            if (asked == 0) {
                return 0;
            }
            long result = direction == Bits.READABLE
                    ? ((ScatteringByteChannel) channel).read(buffers, offset, count)
                    : ((GatheringByteChannel) channel).write(buffers, offset, count);
            return settle((int) result, asked, direction);
        } finally {
            if (cutLimit >= 0) {
                buffers[offset + count - 1].limit(cutLimit);
            }
        }
    }

    @Override
    public final int read(MemorySegment into) throws IOException {
        requireOpen();
        if (into.byteSize() == 0) {
            return 0;
        }
        if (into.isNative()) {
            return read(view(into));
        }
        int asked = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            try {
                int moved = read(scratch.view(asked));
                if (moved > 0) {
                    scratch.give(into, moved);
                }
                return moved;
            } finally {
                scratch.clearView();
            }
        }
    }

    @Override
    public final int write(MemorySegment from) throws IOException {
        requireOpen();
        if (from.byteSize() == 0) {
            return 0;
        }
        if (from.isNative()) {
            return write(view(from));
        }
        int asked = (int) Math.min(from.byteSize(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            scratch.take(from, asked);
            try {
                return write(scratch.view(asked));
            } finally {
                scratch.clearView();
            }
        }
    }

    /** NIO keeps the arena of such a buffer open during its calls. */
    static ByteBuffer view(MemorySegment segment) {
        long bytes = Math.min(segment.byteSize(), Iovecs.MAX_BYTES);
        return segment.asSlice(0, bytes).asByteBuffer();
    }

    /** Returns how many bytes to ask for. */
    private int begin(ByteBuffer buffer) throws ClosedChannelException {
        requireOpen();
        return buffer.isDirect() ? buffer.remaining() : Math.min(buffer.remaining(), Scratch.MAX_BYTES);
    }

    final void requireOpen() throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Converts the result of NIO, in which 0 means would-block, and marks the direction drained if it was. */
    private int settle(int result, int asked, int direction) {
        if (result < 0) {
            return EOF;
        }
        if (result < asked) {
            handle.markDrained(direction);
        }
        return result == 0 ? WOULD_BLOCK : result;
    }

    @Override
    public final String toString() {
        return channel.toString();
    }
}
