package io.millrace.bench;

import io.millrace.engine.Reactors;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Answers every 8 bytes with a whole file, as {@code echo_epoll --file} does. There is no {@code sendFile} in Millrace yet, so this is what a user can do today: the file is
 * mapped, and sent like any bytes. {@code FileAnswers PATH}
 */
public final class FileAnswers {
    private static final int REQUEST = 8;

    private FileAnswers() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        MappedByteBuffer file;
        try (FileChannel channel = FileChannel.open(Path.of(arguments[0]))) {
            file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
        TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .reactors(Reactors.builder().reactors(1))
                .start(Framing.fixed(REQUEST).frames((connection, request) -> connection.send(file.duplicate())));
        System.out.println("listening on 127.0.0.1:" + server.address().getPort() + " (a mapped file, backend "
                + server.backend() + ")");
        Thread.currentThread().join();
    }
}
