package io.millrace.net.family;

import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.UnixNames;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The exceptions that both families throw. The cause is the kernel's reason; the message adds the address and what to
 * do.
 */
public final class Failures {
    private Failures() {}

    public static IOException listen(InetSocketAddress address, IOException cause) {
        return isOurLimit(cause)
                ? ourLimit("listen on " + address, cause)
                : because(
                        new BindException("cannot listen on " + address + ": " + cause.getMessage()
                                + "; choose a free port (0 takes any) on an address of this machine; a port"
                                + " below 1024 may need a privilege"),
                        cause);
    }

    public static IOException connect(Object address, IOException cause) {
        return isOurLimit(cause)
                ? ourLimit("connect to " + address, cause)
                : because(
                        new ConnectException("cannot connect to " + address + ": " + cause.getMessage()
                                + "; check that a server listens there and can be reached, then connect anew"),
                        cause);
    }

    public static IOException udp(InetSocketAddress address, IOException cause) {
        return isOurLimit(cause)
                ? ourLimit("bind a UDP socket to " + address, cause)
                : because(
                        new BindException("cannot bind a UDP socket to " + address + ": " + cause.getMessage()
                                + "; choose a free port (0 takes any) on an address of this machine; a port"
                                + " below 1024 may need a privilege"),
                        cause);
    }

    public static IOException listen(UnixName address, IOException cause) {
        return isOurLimit(cause)
                ? ourLimit("listen at " + address, cause)
                : because(
                        new BindException("cannot listen at " + address + ": " + cause.getMessage()
                                + "; choose a path of at most " + UnixNames.MAX_BYTES
                                + " bytes, in a directory that can be written, where no file is; if one is"
                                + " there and its listener is gone, delete it first"),
                        cause);
    }

    /** Something listens where a stale file would have been replaced. */
    public static IOException alive(UnixName address) {
        return new BindException("cannot listen at " + address
                + ": a server is listening there already; stop it, or choose another path");
    }

    /** There is a socket's file, and it cannot be found out whether something listens there. */
    public static IOException notKnownToBeStale(UnixName address, IOException cause) {
        return because(
                new BindException("cannot listen at " + address
                        + ": there is a socket already, and whether a server is listening there cannot be found out ("
                        + cause.getMessage() + "); choose another path, or delete the file if its server is gone"),
                cause);
    }

    /** Returns whether nothing listens at a socket whose file is there. */
    public static boolean isRefused(ConnectException failure) {
        return failure.getCause() instanceof ErrnoException errno
                ? errno.is(Errno.ECONNREFUSED)
                : String.valueOf(failure.getMessage()).contains("refused");
    }

    public static IOException connect(UnixName address, IOException cause) {
        return isOurLimit(cause)
                ? ourLimit("connect to " + address, cause)
                : because(
                        new ConnectException("cannot connect to " + address + ": " + cause.getMessage()
                                + "; check that a server listens there and has room for one more, that this user may"
                                + " write its file, and that the path has at most " + UnixNames.MAX_BYTES + " bytes"),
                        cause);
    }

    /** A Unix socket connects immediately or not at all, and nothing reports when it could. */
    public static IOException queueFull(UnixName address, @Nullable IOException cause) {
        ConnectException failure = new ConnectException("cannot connect to " + address
                + ": as many as its backlog allows are waiting to be accepted; connect anew a little later");
        return cause == null ? failure : because(failure, cause);
    }

    /** Does not end the socket, because the peer may still come. */
    public static IOException portUnreachable(InetSocketAddress peer, IOException cause) {
        return because(
                new PortUnreachableException("nobody listens at " + peer
                        + ": a datagram sent there came back; the socket goes on, send again when somebody does"),
                cause);
    }

    public static IOException tooLong(long bytes) {
        return new IOException("cannot send a datagram of " + bytes
                + " bytes: by IPv4 one has at most 65507; send several, or use a stream");
    }

    public static IOException tooLong(long bytes, IOException cause) {
        return because(tooLong(bytes), cause);
    }

    public static IOException start(List<String> command, IOException cause) {
        return isOurLimit(cause)
                ? ourLimit("start " + command, cause)
                : new IOException(
                        "cannot start " + command + ": " + cause.getMessage() + "; check that "
                                + command.getFirst()
                                + " exists, may be executed, and if it is a name, is in a directory of"
                                + " PATH",
                        cause);
    }

    public static IOException tooManyWatches(ErrnoException cause) {
        return cause.is(Errno.EMFILE)
                ? new IOException(
                        "cannot open a file watch: this user or process has as many as the system allows; close some,"
                                + " or raise fs.inotify.max_user_instances or the limit of open files",
                        cause)
                : cause;
    }

    /** For an operation that needs a descriptor and failed, perhaps because there is none left. */
    public static IOException lack(String doing, IOException cause) {
        return isOurLimit(cause) ? ourLimit(doing, cause) : cause;
    }

    /** Returns whether we are out of descriptors, so that the address is not to blame. */
    private static boolean isOurLimit(IOException cause) {
        return cause instanceof ErrnoException errno
                ? errno.is(Errno.EMFILE) || errno.is(Errno.ENFILE)
                : String.valueOf(cause.getMessage()).contains("Too many open files");
    }

    private static IOException ourLimit(String doing, IOException cause) {
        return new IOException(
                "cannot " + doing + ": " + cause.getMessage()
                        + "; raise the limit of open files (ulimit -n), or close some",
                cause);
    }

    private static IOException because(IOException failure, IOException cause) {
        failure.initCause(cause);
        return failure;
    }
}
