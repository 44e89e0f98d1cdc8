package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.StreamCalls;
import io.millrace.net.fd.FdPassing;
import io.millrace.poll.Source;
import io.millrace.sys.call.Posix;
import io.millrace.sys.posix.DescriptorPassing;
import io.millrace.sys.posix.PeerIdentity;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A connection between two processes of this machine. {@link ByteStream} describes how to read and write.
 *
 * <p>It is connected from the beginning, so {@link #finishConnect} returns true.
 *
 * <h2>Portability</h2>
 * The same for both families; on Windows, which has such sockets, too, only with NIO. If the peer closes without
 * reading everything, that is a reset on Linux, and the end of the stream elsewhere. No call raises SIGPIPE. Descriptors can be passed, and the peer can
 * be known, with a native backend.
 */
public final class UnixStream extends SocketStream<UnixAddress> {
    UnixStream(StreamCalls calls, UnixAddress address) {
        super(address, calls, true);
    }

    @Override
    String kind() {
        return "UnixStream at";
    }

    /**
     * Connects, using the default family: {@link Net#connect(UnixAddress)} of {@link Net#standard()}.
     *
     * @param path the listener's path
     * @return a connected stream, which the caller must close
     * @throws java.net.ConnectException if nothing listens there, too many connections are waiting there, or the path
     *     is not accessible
     * @throws IOException if the system refuses for another reason
     */
    public static UnixStream connect(Path path) throws IOException {
        return Net.standard().connect(UnixAddress.of(path));
    }

    /**
     * Returns the address of the listener, on both ends of the connection. The end that connected has no address of its
     * own.
     *
     * @return the address, even after close
     */
    public UnixAddress address() {
        return peer;
    }

    /**
     * Returns who is at the other end.
     *
     * @return what the kernel knew when the connection was made
     * @throws IOException if the system refuses
     * @throws UnsupportedOperationException on NIO
     */
    public UnixPeer peer() throws IOException {
        try {
            PeerIdentity identity = FdPassing.peer(calls);
            return new UnixPeer(identity.pid(), identity.uid(), identity.gid());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends bytes together with the descriptor of a source: the process at the other end gets one of its own for the
     * same open file. The source stays open here, and never shuts its socket down from now on, because that would end it
     * for the other process, too.
     *
     * @param from the bytes, at least one; the descriptor arrives with the first of them
     * @param passed a source with a descriptor, for example a listener
     * @return how many bytes were sent, and with them the descriptor; or {@link #WOULD_BLOCK}, and then neither
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if there are no bytes, because a descriptor does not travel alone
     * @throws UnsupportedOperationException if the stream or the source has no descriptor, as on NIO
     */
    public int tryWrite(ByteBuffer from, Source passed) throws IOException {
        if (!from.hasRemaining()) {
            throw new IllegalArgumentException("cannot send " + passed + " without a byte: pass at least one with it");
        }
        try {
            return FdPassing.write(calls, from, passed);
        } finally {
            Reference.reachabilityFence(this);
            Reference.reachabilityFence(passed);
        }
    }

    /**
     * Receives bytes, and descriptors that were sent with them. A call does not read past the bytes of the first message
     * that has descriptors. A plain {@link #tryRead(ByteBuffer)} drops them.
     *
     * @param into where the bytes go, from its position on
     * @param passed to which the descriptors are added; the caller must use or close them, however many there are
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}
     * @throws IOException if the system refuses; or if this process has no room for a descriptor, which is lost then, so
     *     that it is best to close the stream. Nothing is added then
     * @throws UnsupportedOperationException on NIO
     */
    public int tryRead(ByteBuffer into, List<? super PassedDescriptor> passed) throws IOException {
        ByteCalls.requireWritable(into);
        if (!into.hasRemaining()) {
            return 0;
        }
        DescriptorPassing.Received received;
        try {
            received = FdPassing.read(calls, into);
        } finally {
            Reference.reachabilityFence(this);
        }
        List<PassedDescriptor> taken = new ArrayList<>();
        boolean all = false;
        try {
            for (int fd : received.passed()) {
                taken.add(PassedDescriptor.owned(fd));
            }
            if (received.lost()) {
                throw new IOException("cannot take all descriptors from " + this
                        + ": this process has too many open files; raise the limit (ulimit -n)");
            }
            all = true;
        } finally {
            if (!all) {
                taken.forEach(PassedDescriptor::close);
                received.passed()
                        .subList(taken.size(), received.passed().size())
                        .forEach(Posix::close);
            }
        }
        passed.addAll(taken);
        return (int) received.bytes();
    }
}
