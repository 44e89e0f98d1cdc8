package io.millrace.net;

import io.millrace.sys.Bits;
import io.millrace.sys.Iovecs;
import io.millrace.sys.Scratch;
import io.millrace.sys.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;

/**
 * A connection as a {@code java.nio} channel.
 *
 * <p>The bounds of a vectored call are those of the other family: 64 buffers, and 64 KiB of those that NIO copies (see {@link NioBytes}).
 */
final class NioStream implements StreamTransport {
    private final SocketChannel channel;
    private final NioBytes bytes;

    /** A channel that does not block. */
    NioStream(SocketChannel channel) {
        this.channel = channel;
        this.bytes = new NioBytes(channel);
    }

    @Override
    public NioBytes bytes() {
        return bytes;
    }

    @Override
    public int read(ByteBuffer[] into, int offset, int length) throws IOException {
        return move(into, offset, length, Bits.READABLE);
    }

    @Override
    public int write(ByteBuffer[] from, int offset, int length) throws IOException {
        return move(from, offset, length, Bits.WRITABLE);
    }

    /** Takes as many buffers as the bounds allow; the one that crosses them is cut for the time of the call. */
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
                    ? channel.read(buffers, offset, count)
                    : channel.write(buffers, offset, count);
            return bytes.settle((int) result, asked, direction);
        } finally {
            if (cutLimit >= 0) {
                buffers[offset + count - 1].limit(cutLimit);
            }
        }
    }

    @Override
    public int read(MemorySegment into) throws IOException {
        requireOpen();
        if (into.byteSize() == 0) {
            return 0;
        }
        if (into.isNative()) {
            return bytes.read(view(into));
        }
        int asked = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
        Scratch scratch = Scratch.current(asked);
        try {
            int moved = bytes.read(scratch.view(asked));
            if (moved > 0) {
                scratch.give(into, moved);
            }
            return moved;
        } finally {
            scratch.clearView();
        }
    }

    @Override
    public int write(MemorySegment from) throws IOException {
        requireOpen();
        if (from.byteSize() == 0) {
            return 0;
        }
        if (from.isNative()) {
            return bytes.write(view(from));
        }
        int asked = (int) Math.min(from.byteSize(), Scratch.MAX_BYTES);
        Scratch scratch = Scratch.current(asked);
        scratch.take(from, asked);
        try {
            return bytes.write(scratch.view(asked));
        } finally {
            scratch.clearView();
        }
    }

    /** NIO holds the arena of such a buffer open during its calls. */
    private static ByteBuffer view(MemorySegment segment) {
        long bytes = Math.min(segment.byteSize(), Iovecs.MAX_BYTES);
        return segment.asSlice(0, bytes).asByteBuffer();
    }

    @Override
    public boolean finishConnect() throws IOException {
        return channel.finishConnect();
    }

    @Override
    public void shutdownInput() throws IOException {
        channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    @Override
    public int get(SocketSetting setting) throws IOException {
        return NioSettings.get(channel, setting);
    }

    @Override
    public void set(SocketSetting setting, int value) throws IOException {
        NioSettings.set(channel, setting, value);
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        return (InetSocketAddress) channel.getLocalAddress();
    }

    private void requireOpen() throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }
}
