package io.millrace.net;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Poll;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A program that runs out of file descriptors and says what each call made of it. Started with a low limit by {@link LimitsTest}: the
 * limit is the whole process's, so not in the JVM of the tests.
 */
final class LimitsChild {
    private interface Call {
        Object run() throws IOException;
    }

    private final String backend;
    private final Net net;
    private final Path directory;

    private LimitsChild(Poll poll, Path directory) {
        this.backend = poll.backend();
        this.net = Net.of(poll);
        this.directory = directory;
    }

    public static void main(String[] args) throws IOException {
        try (Poll poll = Poll.builder().backend(args[0]).open()) {
            LimitsChild child = new LimitsChild(poll, Path.of(args[1]));
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
                Pipe pipe = net.pipe();
                FileSource file = net.file(Files.createFile(directory.resolve("file")));
                FdSource adopted = FdSource.adopt(0);
                FileWatch watch = net.fileWatch();
                ChildProcess child = net.process("true").start();
                Poll another = Poll.builder().backend(backend).open()) {
            another.poll(Events.withCapacity(1), Duration.ZERO);
            describe("warm-up", () -> List.of(file.size(), adopted.fd(), watch.unwatch(path), child.pid()));
            describe("warm-up", () -> net.file(directory.resolve("nothing")));
            describe("warm-up", () -> net.process("/nothing").start());
            describe("warm-up", () -> Notifier.waitFor(client, Interest.READABLE, Duration.ofMillis(1)));
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
            describe("file", () -> net.file(directory.resolve("file")));
            describe("adopt", () -> FdSource.adopt(0));
            describe("watch", net::fileWatch);
            describe("child", () -> net.process("true").start());
            describe("wait", () -> Notifier.waitFor(client, Interest.READABLE, Duration.ofMillis(1)));
            describe("poll", () -> Poll.builder().backend(backend).open());
            System.out.println("no-descriptor-lost " + isFull());
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

    /** Nothing that failed has given a descriptor back that was not its own, or has kept one. */
    private static boolean isFull() {
        try (FileInputStream one = new FileInputStream("/dev/null")) {
            return one.available() < 0;
        } catch (IOException full) {
            return true;
        }
    }

    private static void describe(String what, Call call) {
        try {
            System.out.println(what + " gave " + call.run());
        } catch (UncheckedIOException e) {
            System.out.println(what + " " + e.getCause().getClass().getName() + ": "
                    + e.getCause().getMessage());
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
