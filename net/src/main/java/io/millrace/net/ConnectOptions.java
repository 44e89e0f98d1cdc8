package io.millrace.net;

import io.millrace.sys.posix.SocketSetting;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a TCP stream that take effect before its first packet is sent: {@link
 * Net#connect(java.net.InetSocketAddress, ConnectOptions)}. All of them can also be set later, but then the peer has
 * been told another window, and the first packets had another traffic class.
 *
 * {@snippet :
 * net.connect(address, ConnectOptions.standard().withReceiveBuffer(1 << 20));
 * }
 *
 * <h2>Portability</h2>
 * The same for both families, as far as the setters of {@link TcpStream} are. TCP_FASTOPEN_CONNECT is not supported:
 * with it, the system reports a stream as connected before it has sent anything, so it would not be known whether there
 * is a peer until bytes are written.
 *
 * @param receiveBuffer the {@link TcpStream#setReceiveBuffer} of the stream, or 0 for the system's default, which grows
 *     as needed
 * @param noDelay whether {@link TcpStream#setNoDelay} is on
 * @param keepAlive its {@link TcpStream#setKeepAlive}; null for none
 * @param sendBuffer its {@link TcpStream#setSendBuffer}, or 0 for the system's default, which grows as needed
 * @param linger its {@link TcpStream#setLinger}, rounded up to seconds; null for none
 * @param trafficClass its {@link TcpStream#setTrafficClass}; 0 is the system's default
 */
public record ConnectOptions(
        int receiveBuffer,
        boolean noDelay,
        @Nullable KeepAlive keepAlive,
        int sendBuffer,
        @Nullable Duration linger,
        int trafficClass) {
    private static final ConnectOptions STANDARD = new ConnectOptions(0, false, null, 0, null, 0);

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if the size of a buffer is negative, or the time to linger or the traffic class
     *     is out of range
     */
    public ConnectOptions {
        StreamTerms.requireSize("a receive buffer", receiveBuffer);
        StreamTerms.requireSize("a send buffer", sendBuffer);
        linger = StreamTerms.wholeLinger(linger);
        StreamTerms.requireTrafficClass(trafficClass);
    }

    /**
     * Returns the default options: a stream as the system creates it.
     *
     * @return always the same one
     */
    public static ConnectOptions standard() {
        return STANDARD;
    }

    /**
     * Returns the same options with another receive buffer.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's default
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public ConnectOptions withReceiveBuffer(int receiveBuffer) {
        return new ConnectOptions(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }

    /**
     * Returns the same options with small writes delayed or not.
     *
     * @param noDelay whether they are sent at once
     * @return new options
     */
    public ConnectOptions withNoDelay(boolean noDelay) {
        return new ConnectOptions(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }

    /**
     * Returns the same options with another keep-alive.
     *
     * @param keepAlive when to check; null for never
     * @return new options
     */
    public ConnectOptions withKeepAlive(@Nullable KeepAlive keepAlive) {
        return new ConnectOptions(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }

    /**
     * Returns the same options with another send buffer.
     *
     * @param sendBuffer its size in bytes, or 0 for the system's default
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public ConnectOptions withSendBuffer(int sendBuffer) {
        return new ConnectOptions(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }

    /**
     * Returns the same options with another time to linger.
     *
     * @param linger how long a close waits for unsent bytes; null for none
     * @return new options
     * @throws IllegalArgumentException if it is negative or above 65,535 seconds
     */
    public ConnectOptions withLinger(@Nullable Duration linger) {
        return new ConnectOptions(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }

    /**
     * Returns the same options with another traffic class.
     *
     * @param trafficClass from 0 to 255
     * @return new options
     * @throws IllegalArgumentException if it is out of range
     */
    public ConnectOptions withTrafficClass(int trafficClass) {
        return new ConnectOptions(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }

    Map<SocketSetting, Integer> settings() {
        return StreamTerms.settings(receiveBuffer, noDelay, keepAlive, sendBuffer, linger, trafficClass);
    }
}
