package io.millrace.net;

import io.millrace.sys.posix.ListenTerms;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a TCP listener that must be known before it is bound, and the initial settings of the streams that it
 * accepts.
 *
 * {@snippet :
 * net.listen(address, ListenOptions.standard().withReusePort(true).withBacklog(128));
 * }
 *
 * <h2>Portability</h2>
 * On Linux, the settings of accepted streams are set once, on the listener, from which they inherit them, so they cost
 * nothing at accept. Elsewhere and with NIO, each setting that differs from the system's default costs a system call
 * per accepted stream. {@code fastOpen} needs a native backend; with NIO, {@link Net#listen(java.net.InetSocketAddress,
 * ListenOptions)} throws {@link UnsupportedOperationException}. On macOS it is on or off, regardless of the number. The
 * system may be configured not to use it: Linux uses it if the sysctl {@code net.ipv4.tcp_fastopen} has bit 2.
 *
 * @param backlog how many connections may wait to be accepted; the system may reduce it
 * @param reusePort whether other listeners, in any process of the same user, may use the same port if they set this,
 *     too (SO_REUSEPORT); Linux then distributes the connections over them. Connections that wait at a listener are
 *     reset when it is closed: accept them first.
 * @param receiveBuffer the {@link TcpStream#setReceiveBuffer} of accepted streams, or 0 for the system's default, which
 *     grows as needed
 * @param noDelay whether {@link TcpStream#setNoDelay} is on for accepted streams
 * @param keepAlive the {@link TcpStream#setKeepAlive} of accepted streams; null for none
 * @param sendBuffer the {@link TcpStream#setSendBuffer} of accepted streams, or 0 for the system's default, which grows
 *     as needed
 * @param linger the {@link TcpStream#setLinger} of accepted streams, rounded up to seconds; null for none
 * @param trafficClass the {@link TcpStream#setTrafficClass} of accepted streams; 0 is the system's default
 * @param fastOpen how many connections may wait whose first packet brought bytes (TCP_FASTOPEN); 0 for none. A peer
 *     that has connected before saves a round trip. Its first bytes may arrive twice, so use this only for requests
 *     that may be repeated
 */
public record ListenOptions(
        int backlog,
        boolean reusePort,
        int receiveBuffer,
        boolean noDelay,
        @Nullable KeepAlive keepAlive,
        int sendBuffer,
        @Nullable Duration linger,
        int trafficClass,
        int fastOpen) {
    private static final ListenOptions STANDARD =
            new ListenOptions(Net.DEFAULT_BACKLOG, false, 0, false, null, 0, null, 0, 0);

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if the backlog is not positive, the size of a buffer or the number of fast
     *     connections is negative, or the time to linger or the traffic class is out of range
     */
    public ListenOptions {
        if (backlog < 1) {
            throw new IllegalArgumentException("a backlog is at least 1: " + backlog);
        }
        StreamTerms.requireSize("a receive buffer", receiveBuffer);
        StreamTerms.requireSize("a send buffer", sendBuffer);
        linger = StreamTerms.wholeLinger(linger);
        StreamTerms.requireTrafficClass(trafficClass);
        if (fastOpen < 0) {
            throw new IllegalArgumentException("the number of fast connections is not negative: " + fastOpen);
        }
    }

    /**
     * Returns the default options: a backlog of {@value Net#DEFAULT_BACKLOG}, a port that is not shared, and streams as
     * the system creates them.
     *
     * @return always the same one
     */
    public static ListenOptions standard() {
        return STANDARD;
    }

    /**
     * Returns the same options with another backlog.
     *
     * @param backlog how many connections may wait to be accepted
     * @return new options
     * @throws IllegalArgumentException if it is not positive
     */
    public ListenOptions withBacklog(int backlog) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with or without a shared port.
     *
     * @param reusePort whether to share the port
     * @return new options
     */
    public ListenOptions withReusePort(boolean reusePort) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with another receive buffer.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's default
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public ListenOptions withReceiveBuffer(int receiveBuffer) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with small writes delayed or not.
     *
     * @param noDelay whether accepted streams send them at once
     * @return new options
     */
    public ListenOptions withNoDelay(boolean noDelay) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with another keep-alive.
     *
     * @param keepAlive for accepted streams; null for none
     * @return new options
     */
    public ListenOptions withKeepAlive(@Nullable KeepAlive keepAlive) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with another send buffer.
     *
     * @param sendBuffer its size in bytes, or 0 for the system's default
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public ListenOptions withSendBuffer(int sendBuffer) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with another time to linger.
     *
     * @param linger how long a close waits for unsent bytes; null for none
     * @return new options
     * @throws IllegalArgumentException if it is negative or above 65,535 seconds
     */
    public ListenOptions withLinger(@Nullable Duration linger) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with another traffic class.
     *
     * @param trafficClass for accepted streams, from 0 to 255
     * @return new options
     * @throws IllegalArgumentException if it is out of range
     */
    public ListenOptions withTrafficClass(int trafficClass) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    /**
     * Returns the same options with or without fast connections.
     *
     * @param fastOpen how many may wait, or 0 for none
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public ListenOptions withFastOpen(int fastOpen) {
        return new ListenOptions(
                backlog, reusePort, receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass, fastOpen);
    }

    ListenTerms terms() {
        return new ListenTerms(
                backlog,
                reusePort,
                receiveBuffer,
                fastOpen,
                StreamTerms.settings(0, noDelay, keepAlive, sendBuffer, linger, trafficClass));
    }
}
