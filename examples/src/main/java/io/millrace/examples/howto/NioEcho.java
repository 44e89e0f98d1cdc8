package io.millrace.examples.howto;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Iterator;

/** What {@link PollEcho} was before: an echo server on the JDK's selector. */
public final class NioEcho {
    private NioEcho() {}

    /**
     * Serves for ever.
     *
     * @param args the port to listen on
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        try (Selector selector = Selector.open();
                ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])));
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            System.out.println("listening on " + listener.socket().getLocalPort());
            while (true) {
                selector.select();
                for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext(); ) {
                    SelectionKey key = keys.next();
                    keys.remove();
                    if (key.isAcceptable()) {
                        SocketChannel channel = listener.accept();
                        channel.configureBlocking(false);
                        channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(8192));
                    } else {
                        echo(key, (SocketChannel) key.channel(), (ByteBuffer) key.attachment());
                    }
                }
            }
        }
    }

    /** Reads only when everything was written that was read before. */
    private static void echo(SelectionKey key, SocketChannel channel, ByteBuffer buffer) {
        try {
            if (buffer.position() == 0 && channel.read(buffer) < 0) {
                channel.close();
                return;
            }
            channel.write(buffer.flip());
            buffer.compact();
            key.interestOps(buffer.position() == 0 ? SelectionKey.OP_READ : SelectionKey.OP_WRITE);
        } catch (IOException e) {
            System.err.println("ended: " + e);
            key.cancel();
            try {
                channel.close();
            } catch (IOException again) {
                System.err.println("not closed: " + again);
            }
        }
    }
}
