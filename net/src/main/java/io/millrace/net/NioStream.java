package io.millrace.net;

import io.millrace.sys.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/** A connection as a {@code java.nio} channel. */
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
    public long send(FileTransport file, long position, long count) throws IOException {
        return file instanceof NioFile channels
                ? bytes.send(channels, position, count)
                : FileTransport.copy(file, position, count, bytes);
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
