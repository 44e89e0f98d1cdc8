package io.millrace.engine.transport;

import io.millrace.net.Io;
import io.millrace.net.UdpSocket;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.DatagramBatch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a transport moves datagrams: several at once through a descriptor, or one by one through a channel. On the loop
 * only.
 */
abstract sealed class DatagramCalls {
    long bytesSent;

    /** Receives some. Returns how many, 0 if there is none. */
    abstract int receive() throws IOException;

    /** Returns whether a receive that returned this many has taken all there were. */
    abstract boolean isDrained(int received);

    abstract ByteBuffer data(int index);

    abstract boolean wasTruncated(int index);

    abstract InetSocketAddress sender(int index);

    /** Puts an answer behind those that wait. Returns false if there is no room. */
    abstract boolean answer(int index, ByteBuffer data);

    /** Returns how many wait. */
    abstract int waiting();

    /** Sends what waits, as far as the system takes it. Throws if it refuses one, which is then dropped. */
    abstract void flush() throws IOException;

    /** Returns how many bytes were sent since the beginning. */
    final long bytesSent() {
        return bytesSent;
    }

    /** Several with a system call. */
    static final class Batched extends DatagramCalls {
        private static final int PLACES = 32;

        private final int fd;
        private final CallState state = CallState.forLoop();
        private final DatagramBatch in;
        private final DatagramBatch out;
        private int first;
        private int end;

        Batched(int fd, int bytes) {
            this.fd = fd;
            this.in = new DatagramBatch(PLACES, bytes);
            this.out = new DatagramBatch(PLACES, bytes);
        }

        @Override
        int receive() throws IOException {
            int got = in.receive(state, fd);
            if (got < 0) {
                if (Errno.isWouldBlock(got)) {
                    return 0;
                }
                throw new ErrnoException("recvmmsg", fd, -got);
            }
            return got;
        }

        @Override
        boolean isDrained(int received) {
            return received < in.places(); // the call met would-block, and what comes later is another edge
        }

        @Override
        ByteBuffer data(int index) {
            return in.received(index);
        }

        @Override
        boolean wasTruncated(int index) {
            return in.wasTruncated(index);
        }

        @Override
        InetSocketAddress sender(int index) {
            return Objects.requireNonNull(in.sender(index));
        }

        @Override
        boolean answer(int index, ByteBuffer data) {
            if (end == out.places()) {
                return false;
            }
            out.answer(end, data, in, index);
            end++;
            return true;
        }

        @Override
        int waiting() {
            return end - first;
        }

        @Override
        void flush() throws IOException {
            while (first < end) {
                int sent = out.send(state, fd, first, end - first);
                if (sent < 0) {
                    if (Errno.isWouldBlock(sent)) {
                        return;
                    }
                    remove(1); // this one cannot be sent; the next one may go somewhere else
                    throw new ErrnoException("sendmmsg", fd, -sent);
                }
                for (int i = first; i < first + sent; i++) {
                    bytesSent += out.length(i);
                }
                remove(sent);
            }
        }

        /** Removes the first ones that wait. When none is left, all places are free again. */
        private void remove(int count) {
            first += count;
            if (first == end) {
                first = 0;
                end = 0;
            }
        }
    }

    /** One by one. */
    static final class Single extends DatagramCalls {
        private final UdpSocket socket;
        private final ByteBuffer in;
        private final ByteBuffer out;
        private @Nullable InetSocketAddress target;

        Single(UdpSocket socket, int bytes) {
            this.socket = socket;
            this.in = ByteBuffer.allocateDirect(bytes);
            this.out = ByteBuffer.allocateDirect(bytes);
        }

        @Override
        int receive() throws IOException {
            return socket.tryReceive(in.clear()) == Io.WOULD_BLOCK ? 0 : 1;
        }

        @Override
        boolean isDrained(int received) {
            return received == 0;
        }

        @Override
        ByteBuffer data(int index) {
            return in.flip();
        }

        @Override
        boolean wasTruncated(int index) {
            return socket.wasTruncated();
        }

        @Override
        InetSocketAddress sender(int index) {
            return Objects.requireNonNull(socket.lastSender());
        }

        @Override
        boolean answer(int index, ByteBuffer data) {
            if (target != null) {
                return false;
            }
            out.clear().put(data).flip();
            target = sender(index);
            return true;
        }

        @Override
        int waiting() {
            return target == null ? 0 : 1;
        }

        @Override
        void flush() throws IOException {
            InetSocketAddress to = target;
            if (to == null) {
                return;
            }
            boolean blocked = false;
            try {
                int sent = socket.trySendTo(out, to);
                blocked = sent == Io.WOULD_BLOCK;
                bytesSent += Math.max(0, sent);
            } finally {
                if (!blocked) {
                    target = null;
                }
            }
        }
    }
}
