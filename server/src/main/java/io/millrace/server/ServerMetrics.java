package io.millrace.server;

import io.millrace.engine.Metrics;
import java.util.Optional;

/**
 * The counters of a server or client since it was started. This is a view: each call reads the current values, from any
 * thread and without a lock. Values that are summed over all connections take time in proportion to their number.
 */
public interface ServerMetrics {
    /**
     * Returns how many connections are open.
     *
     * @return a gauge
     */
    int connections();

    /**
     * Returns how many connections are being connected, or have not completed their handshake.
     *
     * @return a gauge
     */
    int connectionsOpening();

    /**
     * Returns how many connections have been closed but wait for their last callback to return.
     *
     * @return a gauge
     */
    int connectionsEnding();

    /**
     * Returns how many connections there have been.
     *
     * @return a count
     */
    long connectionsOpened();

    /**
     * Returns how many connections were turned away, because a limit was reached.
     *
     * @return a count
     */
    long connectionsTurnedAway();

    /**
     * Returns how many connections ended by a failure, an abort or a limit, or with bytes that were not sent.
     *
     * @return a count
     */
    long connectionsFailed();

    /**
     * Returns how often accepting failed, for example because the process was out of descriptors.
     *
     * @return a count
     */
    long acceptFailures();

    /**
     * Returns how many bytes were received.
     *
     * @return a count
     */
    long bytesReceived();

    /**
     * Returns how many bytes were sent.
     *
     * @return a count
     */
    long bytesSent();

    /**
     * Returns how many bytes are waiting to be sent, on all connections together.
     *
     * @return a gauge
     */
    long bytesQueued();

    /**
     * Returns how many connections have more waiting than their high-water mark allows.
     *
     * @return a gauge
     */
    int connectionsFull();

    /**
     * Returns how many TLS handshakes were completed.
     *
     * @return a count; 0 without TLS
     */
    long handshakes();

    /**
     * Returns how many connections ended before their TLS handshake was complete.
     *
     * @return a count; 0 without TLS
     */
    long handshakesFailed();

    /**
     * Returns the counters of its loops. They may have other work, too: the loops of a manager serve everything on it.
     *
     * @return empty on an event manager that is not Millrace's
     */
    Optional<Metrics> engine();
}
