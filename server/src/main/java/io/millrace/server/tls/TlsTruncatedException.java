package io.millrace.server.tls;

import javax.net.ssl.SSLException;

/**
 * The input of a TLS connection has ended, but the peer did not say so by close_notify. Somebody on the way may have
 * cut it off; or the peer has crashed, or does not care. What was received is authentic, but may not be everything.
 */
public final class TlsTruncatedException extends SSLException {
    private static final long serialVersionUID = 1;

    /**
     * Creates one.
     *
     * @param message what happened
     */
    public TlsTruncatedException(String message) {
        super(message);
    }
}
