package io.millrace.server;

import io.millrace.server.tls.TlsSession;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A connection as it was at one moment, read from its own fields without stopping its loop. Texts in it that come from
 * the peer, such as {@link TlsSession#serverName}, must be escaped wherever they are shown.
 *
 * @param id its {@link Connection#id}
 * @param remoteAddress the peer's address
 * @param localAddress null if it is not known without a system call
 * @param state how far it is in its life
 * @param loop the name of its loop
 * @param handler the class of its handler
 * @param queuedBytes how many bytes wait to be sent
 * @param lowWater below how many waiting bytes it is writable again
 * @param highWater above how many waiting bytes it is full
 * @param paused whether arrived bytes are left unread, for whatever reason
 * @param bytesReceived how many bytes it has received
 * @param bytesSent how many bytes it has sent
 * @param age how long ago it was opened
 * @param sinceReceived how long ago it last received something, or else was opened
 * @param sinceSent how long ago it last sent something, or else was opened
 * @param tls what was agreed on; null without TLS, or before the handshake is complete
 */
public record ConnectionSnapshot(
        long id,
        InetSocketAddress remoteAddress,
        @Nullable InetSocketAddress localAddress,
        State state,
        String loop,
        String handler,
        long queuedBytes,
        long lowWater,
        long highWater,
        boolean paused,
        long bytesReceived,
        long bytesSent,
        Duration age,
        Duration sinceReceived,
        Duration sinceSent,
        @Nullable TlsSession tls) {
    /** How far a connection is in its life. */
    public enum State {
        /** It is being connected, its handshake is not complete, or its loop has not got to it. */
        OPENING,
        /** Bytes may flow in both directions. */
        OPEN,
        /** The peer has ended its output. */
        INPUT_ENDED,
        /** It was closed, and what was sent before is being flushed. */
        CLOSING,
        /** Everything is sent, and the peer has a second to close, too. */
        LINGERING,
        /** It has ended; its last callback may not have returned. */
        CLOSED
    }

    /**
     * Returns how long ago something was last received or sent.
     *
     * @return the shorter of both times
     */
    public Duration idle() {
        return sinceReceived.compareTo(sinceSent) < 0 ? sinceReceived : sinceSent;
    }

    /**
     * Returns whether more is waiting to be sent than the high-water mark allows.
     *
     * @return true if it is full
     */
    public boolean isFull() {
        return queuedBytes > highWater;
    }

    /**
     * Returns what was agreed on by TLS.
     *
     * @return empty without TLS
     */
    public Optional<TlsSession> secured() {
        return Optional.ofNullable(tls);
    }
}
