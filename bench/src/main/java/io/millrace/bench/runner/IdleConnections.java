package io.millrace.bench.runner;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that holds connections: {@code IdleConnections PORT COUNT}. Each is opened, has one message echoed and is left alone; one after the other, so that no SYN is lost. Says {@code
 * listening on 127.0.0.1:PORT (COUNT idle)}, as a server would, when all are there; ends on SIGTERM. A process of its own because files are limited per process.
 */
final class IdleConnections {
    private static final int MESSAGE = 64;

    private IdleConnections() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        int port = Integer.parseInt(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        List<SocketChannel> held = new ArrayList<>(count);
        ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE);
        for (int i = 0; i < count; i++) {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            held.add(channel);
            channel.write(message.clear());
            message.clear();
            while (message.hasRemaining()) {
                if (channel.read(message) < 0) {
                    throw new EOFException("connection " + i + " was closed by the server");
                }
            }
        }
        System.out.println("listening on 127.0.0.1:" + port + " (" + held.size() + " idle)");
        Thread.currentThread().join();
    }
}
