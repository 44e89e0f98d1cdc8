package io.millrace.netty;

import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import org.jspecify.annotations.Nullable;

/** Turns the kernel's reasons into the exceptions that handlers know from Netty's own transports. */
final class SocketErrors {
    private SocketErrors() {}

    static IOException bind(ErrnoException cause) {
        return because(new BindException(cause.getMessage()), cause);
    }

    /** For connect(2), whether it failed at once or later. */
    static Exception connect(ErrnoException cause) {
        if (cause.is(Errno.ENETUNREACH) || cause.is(Errno.EHOSTUNREACH)) {
            return because(new NoRouteToHostException(cause.getMessage()), cause);
        }
        if (cause.is(Errno.EALREADY)) {
            return new ConnectionPendingException();
        }
        if (cause.is(Errno.EADDRNOTAVAIL) || cause.is(Errno.EADDRINUSE)) {
            return because(new BindException(cause.getMessage()), cause);
        }
        if (cause.is(Errno.EMFILE) || cause.is(Errno.ENFILE)) {
            return cause;
        }
        return because(new ConnectException(cause.getMessage()), cause);
    }

    /** For recv, send and the like. */
    static Exception io(String call, int fd, long result) {
        ErrnoException cause = new ErrnoException(call, fd, (int) -result);
        if (cause.is(Errno.ENOTCONN)) {
            NotYetConnectedException notYet = new NotYetConnectedException();
            notYet.initCause(cause);
            return notYet;
        }
        return because(new SocketException(text(cause)), cause);
    }

    /**
     * Libraries tell a peer that has gone from other failures by the texts of the C library, which Netty's own transports
     * have: Reactor Netty's client tries again, and Lettuce does not complain.
     */
    private static @Nullable String text(ErrnoException cause) {
        if (cause.is(Errno.ECONNRESET)) {
            return "Connection reset by peer";
        }
        if (cause.is(Errno.EPIPE)) {
            return "Broken pipe";
        }
        return cause.is(Errno.ETIMEDOUT) ? "Connection timed out" : cause.getMessage();
    }

    /** For a datagram. */
    static Exception datagram(String call, int fd, long result) {
        ErrnoException cause = new ErrnoException(call, fd, (int) -result);
        return cause.is(Errno.ECONNREFUSED)
                ? because(new PortUnreachableException(cause.getMessage()), cause)
                : because(new SocketException(cause.getMessage()), cause);
    }

    static RuntimeException alreadyConnected() {
        return new AlreadyConnectedException();
    }

    private static IOException because(IOException failure, IOException cause) {
        failure.initCause(cause);
        return failure;
    }
}
