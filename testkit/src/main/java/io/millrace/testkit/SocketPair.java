package io.millrace.testkit;

import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Both ends of a TCP connection over loopback.
 *
 * @param left the end that connected
 * @param right the end that was accepted
 */
public record SocketPair(TcpStream left, TcpStream right) implements AutoCloseable {
    /**
     * Connects two sockets.
     *
     * @param net the family of the poll with which they will be registered
     * @return a pair that can be read and written
     */
    public static SocketPair connect(Net net) {
        try (TcpListener listener = net.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            TcpStream left = net.connect(listener.localAddress());
            Await.until("connected to " + listener, () -> finished(left));
            AtomicReference<@Nullable TcpStream> accepted = new AtomicReference<>();
            Await.until("accepted by " + listener, () -> {
                accepted.set(accept(listener));
                return accepted.get() != null;
            });
            return new SocketPair(left, Objects.requireNonNull(accepted.get()));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a pair of sockets", e);
        }
    }

    private static boolean finished(TcpStream stream) {
        try {
            return stream.finishConnect();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable TcpStream accept(TcpListener listener) {
        try {
            return listener.accept();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Tells the left end that nothing more will come from the right one. */
    public void shutDownRight() {
        try {
            right.shutdownOutput();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Resets the connection: the right end is closed while it holds an unread byte, which makes the kernel send RST
     * instead of FIN.
     */
    public void resetRight() {
        Bytes.write(left, 2);
        Await.until("both bytes have arrived, in one segment", () -> Bytes.readOnce(right, 1) == 1);
        right.close();
    }

    @Override
    public void close() {
        left.close();
        right.close();
    }
}
