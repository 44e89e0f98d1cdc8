package io.millrace.net;

import io.millrace.net.family.AcceptCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A TCP socket that accepts connections. Readable while one is waiting.
 *
 * {@snippet :
 * TcpListener listener = TcpListener.bind(new InetSocketAddress("127.0.0.1", 7000));
 * poll.register(listener, 1, Interest.READABLE, Trigger.EDGE);
 * // when token 1 is readable:
 * for (TcpStream stream = listener.accept(); stream != null; stream = listener.accept()) { serve(stream); }
 * }
 *
 * <p><b>Threads.</b> Any thread may call any method, even several at once: each waiting connection goes to one of them.
 *
 * <p><b>Edges.</b> After an {@link io.millrace.poll.Trigger#EDGE} event, accept until null: one edge may stand for
 * several connections.
 *
 * <h2>Portability</h2>
 * SO_REUSEADDR is on, so a port is free again as soon as its listener is closed; except on Windows, where it would mean
 * something else. The wildcard address, {@code 0.0.0.0} or {@code ::}, listens on IPv4 and IPv6 if the machine has
 * both, unless {@code java.net.preferIPv4Stack} is set; any other address listens on its own address family. A peer
 * that connects over IPv4 is always shown with its IPv4 address.
 */
public final class TcpListener implements StreamListener {
    private final AcceptCalls calls;
    private final LeakTracker leak;
    private final InetSocketAddress local;

    TcpListener(AcceptCalls calls, InetSocketAddress local) {
        this.calls = calls;
        this.local = local;
        this.leak = LeakTracker.track(this, "TcpListener on", local, calls.handle()::close);
    }

    /**
     * Listens on an address, with the default family and a backlog of {@value Net#DEFAULT_BACKLOG}: {@link
     * Net#listen(InetSocketAddress)} of {@link Net#standard()}.
     *
     * @param address where to listen; with port 0 the system chooses a free one, see {@link #localAddress()}
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static TcpListener bind(InetSocketAddress address) throws IOException {
        return Net.standard().listen(address);
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Accepts a waiting connection, without waiting for one. A connection that its peer has given up meanwhile is
     * skipped.
     *
     * @return a connected stream of this listener's family, which the caller must close; or null if none is waiting
     * @throws java.nio.channels.ClosedChannelException if the listener is closed
     * @throws IOException if the system refuses, for example because too many files are open. The connection keeps
     *     waiting, and no further edge reports it, so try again later.
     */
    @Override
    public @Nullable TcpStream accept() throws IOException {
        try {
            AcceptCalls.Accepted accepted = calls.accept();
            if (accepted == null) {
                return null;
            }
            return new TcpStream(accepted.calls(), Objects.requireNonNull(accepted.remote()), true);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the address on which it listens, with the port that the system chose if it was bound to port 0.
     *
     * @return the address, even after close
     */
    public InetSocketAddress localAddress() {
        return local;
    }

    /**
     * Stops listening; if it is registered, it is deregistered first. Waiting connections are reset by the system;
     * accepted ones stay open. Idempotent; any thread may call it.
     */
    @Override
    public void close() {
        leak.forget();
        calls.handle().close();
    }

    @Override
    public String toString() {
        return "TcpListener on " + local + ", " + calls.handle();
    }
}
