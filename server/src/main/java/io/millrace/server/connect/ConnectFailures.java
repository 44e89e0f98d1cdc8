package io.millrace.server.connect;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** What went wrong on the way to a connection: which addresses were tried, and why each of them failed. */
public final class ConnectFailures {
    private final ConnectTarget target;
    private final Map<InetSocketAddress, Throwable> failed = new LinkedHashMap<>();

    ConnectFailures(ConnectTarget target) {
        this.target = target;
    }

    /** One address failed; without a cause if it was closed before it was there. */
    void add(InetSocketAddress address, @Nullable Throwable cause) {
        failed.put(
                address,
                cause == null
                        ? new IOException("cannot connect: closed before the connection was established")
                        : cause);
    }

    /** All have failed. If there was one address, and the caller named it, its failure says everything. */
    Throwable all() {
        if (!target.isName() && failed.size() == 1) {
            return failed.values().iterator().next();
        }
        String what = "cannot connect to " + target.name() + ": ";
        String reasons = String.join("; ", reasons());
        if (failed.values().stream().allMatch(SSLException.class::isInstance)) {
            return caused(new SSLException(what + "the TLS handshake failed; " + reasons
                    + "; check which certificates and protocols each side accepts, then connect anew"));
        }
        return caused(new ConnectException(what + "none of its " + failed.size() + " addresses answered; " + reasons
                + "; check that a server listens there and can be reached, then connect anew"));
    }

    /** The time is up. */
    SocketTimeoutException timeout(
            long nanos, boolean resolving, Collection<InetSocketAddress> open, Collection<InetSocketAddress> untried) {
        String message = "cannot connect to " + target.name() + ": no answer within " + nanos / 1_000_000 + " ms";
        if (resolving) {
            message += "; the name has not been resolved; check the resolver's settings";
        } else if (target.isName()) {
            List<String> reasons = reasons();
            open.forEach(address -> reasons.add(name(address) + ": no answer yet"));
            untried.forEach(address -> reasons.add(name(address) + ": not tried yet"));
            message += "; " + String.join("; ", reasons);
        }
        return caused(new SocketTimeoutException(message));
    }

    private List<String> reasons() {
        List<String> reasons = new ArrayList<>();
        failed.forEach((address, cause) -> reasons.add(name(address) + ": " + reason(cause)));
        return reasons;
    }

    /** As the system put it: what our own exception adds is said once for all of them. */
    private static String reason(Throwable cause) {
        Throwable root = cause.getCause();
        return String.valueOf(root == null || root.getMessage() == null ? cause.getMessage() : root.getMessage());
    }

    private <T extends IOException> T caused(T failure) {
        for (Throwable each : failed.values()) {
            if (failure.getCause() == null) {
                failure.initCause(each);
            } else {
                failure.addSuppressed(each);
            }
        }
        return failure;
    }

    /** Without the resolver's name, which the message has said; and IPv6 in brackets. */
    public static String name(InetSocketAddress address) {
        if (address.isUnresolved()) {
            return address.getHostString() + ":" + address.getPort();
        }
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }
}
