package io.millrace.sys.posix;

import io.millrace.sys.call.BufferAddress;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.Msghdr;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.NotInlined;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Places for several datagrams and their addresses, which one system call fills or sends: recvmmsg and sendmmsg on
 * Linux. Elsewhere there is a call for each datagram, with the same results. Nothing is allocated after the beginning.
 *
 * <pre>
 * for each place:  | msghdr (56) | length (4) | padding (4) |     an array of struct mmsghdr, as Linux wants it
 *                  | iovec (16) |
 *                  | address (32) |
 *                  | bytes |
 * </pre>
 *
 * <p>Used by one thread at a time.
 */
public final class DatagramBatch {
    private static final boolean AT_ONCE = Os.current() == Os.LINUX && Native.has("recvmmsg") && Native.has("sendmmsg");

    private static final int HEADER = 64;
    private static final int LENGTH = 56;
    private static final int IOVEC = 16;
    private static final int NAME = 32;
    private static final int CACHE_LINE = 64;

    private final int places;
    private final int bytes;
    private final long headers;
    private final long iovecs;
    private final long names;
    /** Keeps the memory that the addresses above lead to. */
    private final ByteBuffer memory;

    private final ByteBuffer[] data;
    /** How many places a receive has changed. */
    private int changed;

    /** One for all places: whoever asks for the addresses of many peers gets a new object for each change. */
    private final PeerAddress peer = new PeerAddress(SocketAddressCodec.INET);

    /**
     * Creates the places.
     *
     * @param places how many datagrams there is room for
     * @param bytes how long each may be
     */
    public DatagramBatch(int places, int bytes) {
        this.places = places;
        this.bytes = bytes;
        int tables = places * (HEADER + IOVEC + NAME);
        // The beginnings of the places must not all compete for the same lines of the cache.
        int stride = (bytes + 2 * CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
        this.memory = ByteBuffer.allocateDirect(tables + CACHE_LINE + places * stride);
        this.headers = BufferAddress.ofOwn(memory) + 7 & -8L;
        this.iovecs = headers + (long) places * HEADER;
        this.names = iovecs + (long) places * IOVEC;
        this.data = new ByteBuffer[places];
        for (int i = 0; i < places; i++) {
            int at = tables + CACHE_LINE + i * stride;
            data[i] = memory.slice(at, bytes);
            Msghdr.putIovec(iovecs + (long) i * IOVEC, BufferAddress.ofOwn(data[i]), bytes);
            clear(i);
        }
    }

    public int places() {
        return places;
    }

    private long header(int place) {
        return headers + (long) place * HEADER;
    }

    private long name(int place) {
        return names + (long) place * NAME;
    }

    private void clear(int place) {
        Msghdr.put(header(place), name(place), SocketAddressCodec.MAX_BYTES, iovecs + (long) place * IOVEC, 1);
        Posix.putInt(header(place) + LENGTH, 0);
    }

    /**
     * Receives as many datagrams as have arrived and there are places for.
     *
     * @return how many; or {@code -errno}, also if there is none
     */
    public int receive(CallState state, int fd) {
        for (int i = 0; i < changed; i++) {
            clear(i);
        }
        changed = 0;
        long result;
        do {
            result = AT_ONCE ? Calls.receive(state, fd, headers, places) : receiveEach(state, fd);
        } while (Errno.isInterrupted(result));
        changed = Math.max(0, (int) result);
        return (int) result;
    }

    private long receiveEach(CallState state, int fd) {
        for (int i = 0; i < places; i++) {
            long got = Sockets.receiveMessage(state, fd, header(i), 0);
            if (got < 0) {
                return i > 0 ? i : got;
            }
            Posix.putInt(header(i) + LENGTH, (int) got);
        }
        return places;
    }

    /** Returns the bytes of a datagram that was received: from 0 to the limit. */
    public ByteBuffer received(int place) {
        return data[place].clear().limit(Posix.getInt(header(place) + LENGTH));
    }

    /** Returns whether a datagram was longer than its place. */
    public boolean wasTruncated(int place) {
        return Msghdr.wasTruncated(header(place));
    }

    /** Returns the sender of a datagram; the same object as for the one before, if it is the same sender. */
    public @Nullable InetSocketAddress sender(int place) {
        peer.take(name(place), Msghdr.nameLength(header(place)));
        return peer.address();
    }

    /**
     * Puts a datagram into a place, to be sent to the sender of one that was received.
     *
     * @param from all that remains of it, which must not be longer than a place
     */
    public void answer(int place, ByteBuffer from, DatagramBatch received, int to) {
        int length = from.remaining();
        data[place].clear().put(from);
        long theirs = received.name(to);
        long mine = name(place);
        Posix.putLong(mine, Posix.getLong(theirs));
        Posix.putLong(mine + 8, Posix.getLong(theirs + 8));
        Posix.putLong(mine + 16, Posix.getLong(theirs + 16));
        Posix.putLong(mine + 24, Posix.getLong(theirs + 24));
        long iovec = iovecs + (long) place * IOVEC;
        Posix.putLong(iovec + 8, length);
        Msghdr.put(header(place), mine, Msghdr.nameLength(received.header(to)), iovec, 1);
    }

    /** Returns how many bytes a datagram has that was put into a place. */
    public int length(int place) {
        return (int) Posix.getLong(iovecs + (long) place * IOVEC + 8);
    }

    /** Returns how many bytes each place has room for. */
    public int room() {
        return bytes;
    }

    /**
     * Sends datagrams, as many as the system takes now.
     *
     * @return how many; or {@code -errno} of the first of them
     */
    public int send(CallState state, int fd, int first, int count) {
        long result;
        do {
            result = AT_ONCE ? Calls.send(state, fd, header(first), count) : sendEach(state, fd, first, count);
        } while (Errno.isInterrupted(result));
        return (int) result;
    }

    private long sendEach(CallState state, int fd, int first, int count) {
        for (int i = 0; i < count; i++) {
            long sent = Sockets.sendMessage(state, fd, header(first + i), Sockets.MSG_NOSIGNAL);
            if (sent < 0) {
                return i > 0 ? i : sent;
            }
        }
        return count;
    }

    @SuppressWarnings("serial")
    private static final class Calls extends NotInlined {
        static final MethodHandle RECVMMSG = Native.link("recvmmsg", 5);
        static final MethodHandle SENDMMSG = Native.link("sendmmsg", 4);

        static long receive(CallState state, int fd, long headers, int count) {
            try {
                return state.result(
                        (long) RECVMMSG.invokeExact(state.segment, (long) fd, headers, (long) count, 0L, 0L));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static long send(CallState state, int fd, long headers, int count) {
            try {
                return state.result((long) SENDMMSG.invokeExact(state.segment, (long) fd, headers, (long) count, 0L));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }
}
