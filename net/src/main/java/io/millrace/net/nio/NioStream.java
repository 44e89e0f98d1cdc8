package io.millrace.net.nio;

import io.millrace.net.family.FileCalls;
import io.millrace.net.family.StreamCalls;
import io.millrace.sys.Bits;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/** A connection with a {@code java.nio} channel: moves its bytes, and does what else a connection can do. */
final class NioStream extends NioBytes implements StreamCalls {
    private final SocketChannel channel;

    /** Creates the calls of a non-blocking channel. */
    NioStream(SocketChannel channel) {
        super(channel);
        this.channel = channel;
    }

    @Override
    public boolean finishConnect() throws IOException {
        return channel.finishConnect();
    }

    /** Asks the socket's adaptor, the only part of NIO that can look without reading. A Unix socket has none. */
    @Override
    public boolean mayHaveInput() throws IOException {
        requireOpen();
        return !(channel.getLocalAddress() instanceof InetSocketAddress)
                || channel.socket().getInputStream().available() > 0;
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
    public long send(FileCalls file, long position, long count) throws IOException {
        return file instanceof NioFile channels
                ? sendFile(channels, position, count)
                : FileCalls.copy(file, position, count, this);
    }

    private long sendFile(NioFile file, long position, long count) throws IOException {
        requireOpen();
        long moved = file.sendTo(channel, position, Math.min(count, Iovecs.MAX_BYTES));
        if (moved == 0) {
            handle.markDrained(Bits.WRITABLE);
            return WOULD_BLOCK;
        }
        return moved;
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
}
