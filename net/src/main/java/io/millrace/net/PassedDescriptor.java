package io.millrace.net;

import io.millrace.net.fd.FdPassing;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import io.millrace.sys.posix.Fds;
import io.millrace.sys.posix.SocketFacts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor that another process opened and this one got: from its service manager ({@link Systemd#sockets()}), or
 * over a Unix socket ({@link UnixStream#tryRead(java.nio.ByteBuffer, java.util.List)}). It belongs to this process from
 * now on, until it becomes a source or is closed.
 *
 * {@snippet :
 * for (PassedDescriptor passed : Systemd.sockets()) {
 *     if (passed.kind() == PassedDescriptor.Kind.TCP_LISTENER) {
 *         poll.register(passed.tcpListener(ListenOptions.standard()), 1, Interest.READABLE, Trigger.EDGE);
 *     }
 * }
 * }
 *
 * <p><b>Shared.</b> The other process may still have the open file. A listener that both have accepts for both: each
 * connection goes to one of them, and the listener ends when both have closed it. So nothing is changed that the other
 * one would notice, except that calls do not block: the source never shuts the socket down, and a {@link UnixListener}
 * leaves its file where it is.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 *
 * <h2>Portability</h2>
 * Descriptors need a Unix system and a native backend.
 */
public final class PassedDescriptor implements AutoCloseable {
    /** What a descriptor refers to. */
    public enum Kind {
        /** A TCP socket that listens. */
        TCP_LISTENER("a TCP listener"),
        /** A Unix stream socket that listens. */
        UNIX_LISTENER("a Unix listener"),
        /** A UDP socket. */
        UDP_SOCKET("a UDP socket"),
        /** Anything else: see {@link PassedDescriptor#source()}. */
        OTHER("neither a TCP or Unix listener nor a UDP socket");

        private final String description;

        Kind(String description) {
            this.description = description;
        }

        /**
         * Returns a description with its article.
         *
         * @return for messages
         */
        public String description() {
            return description;
        }
    }

    private final int fd;
    private final String name;
    private final Kind kind;
    private final @Nullable SocketFacts facts;
    /** Set by the call that takes the number. */
    private final AtomicBoolean taken;

    private final LeakTracker leak;

    private PassedDescriptor(int fd, String name, @Nullable SocketFacts facts) {
        this.fd = fd;
        this.name = name;
        this.facts = facts;
        this.kind = facts == null
                ? Kind.OTHER
                : facts.isTcpListener()
                        ? Kind.TCP_LISTENER
                        : facts.isUnixListener() ? Kind.UNIX_LISTENER : facts.isUdp() ? Kind.UDP_SOCKET : Kind.OTHER;
        AtomicBoolean gone = new AtomicBoolean();
        this.taken = gone;
        this.leak = LeakTracker.track(this, "PassedDescriptor fd", fd, () -> close(gone, fd));
    }

    /**
     * Takes over a descriptor, and has it closed on exec.
     *
     * @param fd an open descriptor of this process; if this call throws, it still belongs to the caller
     * @return what it is, which the caller must use or close; this closes {@code fd}
     * @throws IllegalArgumentException if the number is negative or not open
     * @throws IOException if the system refuses
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static PassedDescriptor owned(int fd) throws IOException {
        return owned(fd, "");
    }

    static PassedDescriptor owned(int fd, String name) throws IOException {
        if (fd < 0) {
            throw new IllegalArgumentException("cannot take over fd " + fd + ": a file descriptor is not negative");
        }
        Net.natively(); // or says why not
        try {
            Fds.setCloseOnExec(fd);
            return new PassedDescriptor(fd, name, SocketFacts.of(fd));
        } catch (ErrnoException e) {
            if (e.is(Errno.EBADF)) {
                throw new IllegalArgumentException("cannot take over fd " + fd + ": not an open file descriptor", e);
            }
            throw e;
        }
    }

    /**
     * Returns what it refers to.
     *
     * @return as the kernel says
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the name that the service manager gave it.
     *
     * @return empty if it did not come from there
     */
    public String name() {
        return name;
    }

    /**
     * Returns the address of a TCP listener or a UDP socket.
     *
     * @return null for other kinds
     */
    public @Nullable InetSocketAddress address() {
        return facts == null ? null : facts.internet();
    }

    /**
     * Returns the address of a Unix listener.
     *
     * @return as the process that opened it gave it, so a path may be relative to the directory of that; null for other
     *     kinds
     */
    public @Nullable UnixAddress unixAddress() {
        if (facts == null) {
            return null;
        }
        if (facts.path() != null) {
            return UnixAddress.of(facts.path());
        }
        return facts.abstractName() == null || facts.abstractName().isEmpty()
                ? null
                : UnixAddress.ofAbstract(facts.abstractName());
    }

    /**
     * Makes a TCP listener of it.
     *
     * @param options for the streams that it accepts. On Linux, those that differ from what the listener's opener set
     *     cost a system call for each stream. The backlog, shared ports and fast connections are a matter of whoever
     *     opened it
     * @return a listener, which the caller must close
     * @throws IOException if the system refuses; then it is still to be closed
     * @throws IllegalStateException if it is of another kind, used already, or closed
     */
    public TcpListener tcpListener(ListenOptions options) throws IOException {
        Objects.requireNonNull(options, "options");
        return use(
                Kind.TCP_LISTENER,
                () -> new TcpListener(
                        FdPassing.acceptor(fd, false, options.terms()), Objects.requireNonNull(address())));
    }

    /**
     * Makes a Unix listener of it, which does not remove its file: see {@link UnixListener#removeFileOnClose}.
     *
     * @param address how to call it, as its own name may be a path that is relative to another directory
     * @return a listener, which the caller must close
     * @throws IOException if the system refuses; then it is still to be closed
     * @throws IllegalStateException if it is of another kind, used already, or closed
     */
    public UnixListener unixListener(UnixAddress address) throws IOException {
        Objects.requireNonNull(address, "address");
        return use(
                Kind.UNIX_LISTENER,
                () -> new UnixListener(
                        FdPassing.acceptor(fd, true, ListenOptions.standard().terms()), address, null));
    }

    /**
     * Makes a UDP socket of it.
     *
     * @return a socket, which the caller must close
     * @throws IOException if the system refuses; then it is still to be closed
     * @throws IllegalStateException if it is of another kind, used already, or closed
     */
    public UdpSocket udpSocket() throws IOException {
        return use(
                Kind.UDP_SOCKET,
                () -> new UdpSocket(
                        FdPassing.udp(fd, Objects.requireNonNull(facts)), Objects.requireNonNull(address())));
    }

    /**
     * Makes a source of it, whatever it is.
     *
     * @return a source, which the caller must close
     * @throws IOException if the system refuses; then it is still to be closed
     * @throws IllegalStateException if it is used already, or closed
     */
    public FdSource source() throws IOException {
        return use(kind, () -> FdSource.owned(fd));
    }

    private interface Making<T> {
        T make() throws IOException;
    }

    private <T> T use(Kind wanted, Making<T> making) throws IOException {
        if (kind != wanted) {
            throw new IllegalStateException("cannot make " + wanted.description() + " of " + this);
        }
        if (!taken.compareAndSet(false, true)) {
            throw new IllegalStateException("cannot use " + this + ": it was used already, or closed");
        }
        boolean made = false;
        try {
            T result = making.make();
            leak.forget();
            made = true;
            return result;
        } finally {
            if (!made) {
                taken.set(false);
            }
        }
    }

    /** Closes the descriptor, unless it has become a source. Idempotent. */
    @Override
    public void close() {
        leak.forget();
        close(taken, fd);
    }

    private static void close(AtomicBoolean taken, int fd) {
        if (taken.compareAndSet(false, true)) {
            Posix.close(fd);
        }
    }

    @Override
    public String toString() {
        Object at = address() == null ? unixAddress() : address();
        return kind.description() + (at == null ? "" : " on " + at) + (name.isEmpty() ? "" : " named " + name) + " (fd "
                + fd + ")";
    }
}
