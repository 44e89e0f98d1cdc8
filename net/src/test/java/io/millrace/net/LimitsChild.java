package io.millrace.net;

import io.millrace.poll.Poll;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A program that runs out of file descriptors and says what each call made of it. Started with a low limit by {@link LimitsTest}: the
 * limit is the whole process's, so not in the JVM of the tests.
 */
final class LimitsChild {
    private interface Call {
        Object run() throws IOException;
    }

    private final Net net;
    private final Path directory;

    private LimitsChild(Net net, Path directory) {
        this.net = net;
        this.directory = directory;
    }

    public static void main(String[] args) throws IOException {
        try (Poll poll = Poll.builder().backend(args[0]).open()) {
            LimitsChild child = new LimitsChild(Net.of(poll), Path.of(args[1]));
            child.loadEverything();
            child.runOut();
        }
    }

    /** To load a class takes a descriptor, and later there will be none. */
    private void loadEverything() throws IOException {
        Path path = directory.resolve("first");
        try (TcpListener listener = net.listen(Rig.ANY_PORT);
                UdpSocket udp = net.udp(Rig.ANY_PORT);
                UnixListener unix = net.listen(UnixAddress.of(path));
                TcpStream client = net.connect(listener.localAddress());
                TcpStream server = accept(listener);
                UnixStream unixClient = net.connect(unix.address());
                UnixStream unixServer = accept(unix);
                Pipe pipe = net.pipe()) {
            finish(client);
            client.tryWrite(ByteBuffer.allocate(1));
            readOne(server);
            describe("warm-up", () -> net.listen(listener.localAddress()));
            describe("warm-up", () -> net.udp(udp.localAddress()));
            describe("warm-up", () -> net.listen(unix.address()));
            describe("warm-up", () -> net.connect(UnixAddress.of(directory.resolve("nothing"))));
            unixClient.tryWrite(ByteBuffer.allocate(1));
            unixServer.tryRead(ByteBuffer.allocate(1));
            pipe.sink().tryWrite(ByteBuffer.allocate(1));
        }
    }

    private void runOut() throws IOException {
        Deque<FileInputStream> fillers = new ArrayDeque<>();
        Path path = directory.resolve("second");
        try (TcpListener listener = net.listen(Rig.ANY_PORT);
                UnixListener unix = net.listen(UnixAddress.of(path));
                TcpStream client = net.connect(listener.localAddress());
                UnixStream unixClient = net.connect(unix.address())) {
            finish(client);
            client.tryWrite(ByteBuffer.allocate(1));
            unixClient.tryWrite(ByteBuffer.allocate(1));
            try {
                for (; ; ) {
                    fillers.add(new FileInputStream("/dev/null"));
                }
            } catch (IOException full) {
                System.out.println("full " + (fillers.size() > 10));
            }
            describe("accept", () -> accept(listener));
            describe("accept-unix", () -> accept(unix));
            describe("connect", () -> net.connect(listener.localAddress()));
            describe("connect-unix", () -> net.connect(unix.address()));
            describe("listen", () -> net.listen(Rig.ANY_PORT));
            describe("listen-unix", () -> net.listen(UnixAddress.of(directory.resolve("third"))));
            describe("udp", () -> net.udp(Rig.ANY_PORT));
            describe("pipe", net::pipe);
            System.out.println("no-file-left-behind " + !Files.exists(directory.resolve("third")));

            fillers.pop().close();
            fillers.pop().close();
            // The connections waited on.
            try (TcpStream server = accept(listener);
                    UnixStream unixServer = accept(unix)) {
                readOne(server);
                System.out.println("recovered " + (unixServer.tryRead(ByteBuffer.allocate(1)) == 1));
            }
        }
        while (!fillers.isEmpty()) {
            fillers.pop().close();
        }
    }

    private static void describe(String what, Call call) {
        try {
            System.out.println(what + " gave " + call.run());
        } catch (IOException e) {
            System.out.println(what + " " + e.getClass().getName() + ": " + e.getMessage());
        }
    }

    private static TcpStream accept(TcpListener listener) throws IOException {
        TcpStream stream = listener.accept();
        while (stream == null) {
            Thread.onSpinWait();
            stream = listener.accept();
        }
        return stream;
    }

    private static UnixStream accept(UnixListener listener) throws IOException {
        UnixStream stream = listener.accept();
        while (stream == null) {
            Thread.onSpinWait();
            stream = listener.accept();
        }
        return stream;
    }

    private static void finish(TcpStream stream) throws IOException {
        while (!stream.finishConnect()) {
            Thread.onSpinWait();
        }
    }

    private static void readOne(TcpStream stream) throws IOException {
        while (stream.tryRead(ByteBuffer.allocate(1)) == Io.WOULD_BLOCK) {
            Thread.onSpinWait();
        }
    }
}
