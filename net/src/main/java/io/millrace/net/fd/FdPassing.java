package io.millrace.net.fd;

import io.millrace.net.family.AcceptCalls;
import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.StreamCalls;
import io.millrace.net.family.UdpCalls;
import io.millrace.poll.Source;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Datagrams;
import io.millrace.sys.posix.DescriptorPassing;
import io.millrace.sys.posix.Fds;
import io.millrace.sys.posix.ListenTerms;
import io.millrace.sys.posix.PeerIdentity;
import io.millrace.sys.posix.SocketFacts;
import io.millrace.sys.posix.SocketSetting;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** Passes descriptors between processes, and makes sources of those that other processes opened. */
public final class FdPassing {
    private FdPassing() {}

    // ---- Passing ----

    /**
     * Sends bytes together with the descriptor of a source.
     *
     * @return how many bytes; or would-block, and then the descriptor was not sent either
     */
    public static int write(StreamCalls through, ByteBuffer from, Source passed) throws IOException {
        Descriptor what = descriptor(passed.handle(), passed);
        Descriptor stream = descriptor(through.handle(), "this stream");
        int number = FdUse.begin(what);
        try {
            int fd = FdUse.begin(stream);
            try {
                what.markShared(); // before it is: the other process may use it before the call has returned
                long sent;
                do {
                    sent = DescriptorPassing.send(fd, from, number);
                } while (Errno.isInterrupted(sent));
                return moved(through, "sendmsg", fd, from, sent, Bits.WRITABLE);
            } finally {
                stream.release();
            }
        } finally {
            what.release();
        }
    }

    /** Receives bytes and the descriptors that came with them, whose numbers must be closed by the caller. */
    public static DescriptorPassing.Received read(StreamCalls through, ByteBuffer into) throws IOException {
        Descriptor stream = descriptor(through.handle(), "this stream");
        int fd = FdUse.begin(stream);
        try {
            DescriptorPassing.Received received;
            do {
                received = DescriptorPassing.receive(fd, into);
            } while (Errno.isInterrupted(received.bytes()));
            int moved = received.bytes() == 0
                    ? ByteCalls.EOF
                    : moved(through, "recvmsg", fd, into, received.bytes(), Bits.READABLE);
            return new DescriptorPassing.Received(moved, received.passed(), received.lost());
        } finally {
            stream.release();
        }
    }

    private static int moved(StreamCalls through, String call, int fd, ByteBuffer buffer, long result, int direction)
            throws ErrnoException {
        if (Errno.isWouldBlock(result)) {
            through.handle().markDrained(direction);
            return ByteCalls.WOULD_BLOCK;
        }
        if (result < 0) {
            throw new ErrnoException(call, fd, (int) -result);
        }
        buffer.position(buffer.position() + (int) result);
        return (int) result;
    }

    /** Returns who is at the other end. */
    public static PeerIdentity peer(StreamCalls stream) throws IOException {
        Descriptor descriptor = descriptor(stream.handle(), "this stream");
        int fd = FdUse.begin(descriptor);
        try {
            return PeerIdentity.of(fd);
        } finally {
            descriptor.release();
        }
    }

    private static Descriptor descriptor(Object handle, Object source) {
        if (handle instanceof KernelHandle kernel && kernel.system() instanceof Descriptor descriptor) {
            return descriptor;
        }
        throw new UnsupportedOperationException("cannot pass descriptors: " + source
                + " has none; make it with Net.natively(), and use a native backend (epoll, kqueue or poll)");
    }

    // ---- What was passed ----

    /**
     * Makes a listener of a descriptor that is ours from now on. The open file may be that of another process, too, so
     * nothing about it is changed except that calls do not block. What accepted connections would not inherit from it,
     * they are given one by one.
     */
    public static AcceptCalls acceptor(int fd, boolean unix, ListenTerms terms) throws IOException {
        Fds.setNonBlocking(fd);
        Map<SocketSetting, Integer> settings = new LinkedHashMap<>();
        if (!unix) {
            settings.putAll(terms.accepted());
            if (terms.receiveBuffer() > 0) {
                settings.put(SocketSetting.RECEIVE_BUFFER, terms.receiveBuffer());
            }
        }
        if (Sockets.HANDS_DOWN_SETTINGS) {
            for (SocketSetting each : SocketSetting.values()) {
                Integer wanted = settings.get(each);
                if (wanted != null && each.get(fd) == wanted) {
                    settings.remove(each);
                }
            }
        }
        return new FdAcceptor(passed(fd), unix, settings);
    }

    /** Makes a UDP socket of a descriptor that is ours from now on. */
    public static UdpCalls udp(int fd, SocketFacts facts) throws IOException {
        Fds.setNonBlocking(fd);
        return new FdUdp(new Datagrams.Opened(passed(fd), facts.family()));
    }

    private static Descriptor passed(int fd) {
        Descriptor descriptor = new Descriptor(fd, true);
        descriptor.markShared();
        return descriptor;
    }
}
