package io.millrace.bench.peers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * An echo server on java.nio, by hand: what the JDK gives without a framework.
 *
 * <p>{@code --port P} (0: the kernel chooses), {@code --loops N}: N threads, each with a selector and a listening socket of its own (SO_REUSEPORT), {@code --spin MICROS}:
 * selects without blocking until that long nothing has come.
 *
 * <p>A selector is level-triggered: one read per pass is enough, into one direct buffer for all. What a full socket does not take waits in the connection, whose key then asks for writability only.
 */
public final class NioEcho implements Runnable {
    private static final int BUFFER = 64 * 1024;

    private final Selector selector;
    private final ServerSocketChannel listener;
    private final long spinNanos;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);

    private NioEcho(int port, long spinNanos) throws IOException {
        this.spinNanos = spinNanos;
        selector = Selector.open();
        listener = ServerSocketChannel.open();
        listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        if (listener.supportedOptions().contains(StandardSocketOptions.SO_REUSEPORT)) {
            listener.setOption(StandardSocketOptions.SO_REUSEPORT, true);
        }
        listener.bind(new InetSocketAddress("127.0.0.1", port), 4096);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    public static void main(String[] arguments) throws IOException {
        String usage = "NioEcho [--port P] [--loops N] [--spin MICROS]";
        Options options = new Options(arguments, usage, "--port", "--loops", "--spin");
        int port = (int) options.number("--port", 0, 0, 65_535);
        int loops = (int) options.number("--loops", 1, 1, 64);
        long spinMicros = options.number("--spin", 0, 0, 1_000_000_000);

        List<NioEcho> all = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            NioEcho loop = new NioEcho(port, spinMicros * 1_000);
            port = loop.listener.socket().getLocalPort();
            all.add(loop);
        }
        System.out.printf(
                "listening on 127.0.0.1:%d (java.nio, %d loops with SO_REUSEPORT, spin %d us)%n",
                port, loops, spinMicros);
        all.stream().skip(1).forEach(loop -> new Thread(loop, "echo").start());
        all.getFirst().run();
    }

    @Override
    public void run() {
        try {
            // The set is always the same one, and it is ours to clear.
            Set<SelectionKey> ready = selector.selectedKeys();
            while (true) {
                await();
                for (SelectionKey key : ready) {
                    if (key.channel() == listener) {
                        accept();
                    } else {
                        serve(key);
                    }
                }
                ready.clear();
            }
        } catch (IOException e) {
            System.err.println("cannot go on: " + e);
            System.exit(2);
        }
    }

    private void await() throws IOException {
        if (spinNanos > 0) {
            if (selector.selectNow() > 0) {
                return;
            }
            long begin = System.nanoTime();
            do {
                if (selector.selectNow() > 0) {
                    return;
                }
            } while (System.nanoTime() - begin < spinNanos);
        }
        selector.select();
    }

    private void accept() throws IOException {
        for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.register(selector, SelectionKey.OP_READ);
        }
    }

    private void serve(SelectionKey key) throws IOException {
        try {
            if (key.isWritable()) {
                writeRest(key);
            }
            if (key.isReadable()) {
                echo(key);
            }
        } catch (IOException e) {
            key.channel().close();
        }
    }

    private void echo(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        buffer.clear();
        if (channel.read(buffer) < 0) {
            channel.close();
            return;
        }
        buffer.flip();
        channel.write(buffer);
        if (buffer.hasRemaining()) {
            ByteBuffer rest = (ByteBuffer) key.attachment();
            if (rest == null) {
                rest = ByteBuffer.allocateDirect(BUFFER);
                key.attach(rest);
            }
            rest.clear().put(buffer).flip();
            key.interestOps(SelectionKey.OP_WRITE);
        }
    }

    private static void writeRest(SelectionKey key) throws IOException {
        ByteBuffer rest = (ByteBuffer) key.attachment();
        ((SocketChannel) key.channel()).write(rest);
        if (!rest.hasRemaining()) {
            key.interestOps(SelectionKey.OP_READ);
        }
    }
}
