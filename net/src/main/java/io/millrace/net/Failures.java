package io.millrace.net;

import io.millrace.sys.Errno;
import io.millrace.sys.ErrnoException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;

/**
 * The exceptions that the two families share. The kernel's reason is the cause; the message adds which address, and what to do.
 */
final class Failures {
    private Failures() {}

    static IOException listen(InetSocketAddress address, IOException cause) {
        return isOurLimit(cause)
                ? cause
                : because(
                        new BindException("cannot listen on " + address + ": " + cause.getMessage()
                                + "; choose a free port (0 takes any) on an address of this machine; a port"
                                + " below 1024 may need a privilege"),
                        cause);
    }

    static IOException connect(InetSocketAddress address, IOException cause) {
        return isOurLimit(cause)
                ? cause
                : because(
                        new ConnectException("cannot connect to " + address + ": " + cause.getMessage()
                                + "; check that a server listens there and can be reached, then connect anew"),
                        cause);
    }

    /** Out of descriptors: nothing is wrong with the address. */
    private static boolean isOurLimit(IOException cause) {
        return cause instanceof ErrnoException errno && (errno.is(Errno.EMFILE) || errno.is(Errno.ENFILE));
    }

    private static IOException because(IOException failure, IOException cause) {
        failure.initCause(cause);
        return failure;
    }
}
