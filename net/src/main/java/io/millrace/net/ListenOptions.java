package io.millrace.net;

import io.millrace.sys.posix.SocketSetting;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What must be known of a TCP listener before it is bound, and what the streams that it accepts begin with.
 *
 * {@snippet :
 * net.listen(address, ListenOptions.standard().withReusePort(true).withBacklog(128));
 * }
 *
 * @param backlog how many connections may wait to be accepted; the system may take it for less
 * @param reusePort whether others, in any process of the same user, may listen on the same port if they say so too (SO_REUSEPORT);
 *     Linux then spreads the connections over them. Those that wait at a listener that is closed are reset: accept them first.
 * @param receiveBuffer the size of each connection's receive buffer in bytes, or 0 for the system's own, which grows by need
 * @param noDelay whether accepted streams begin with {@link TcpStream#setNoDelay} on. On Linux that costs nothing at accept: the system hands it
 *     down from the listener
 * @param keepAlive the {@link TcpStream#setKeepAlive} that accepted streams begin with, at the same cost; null for none
 */
public record ListenOptions(
        int backlog,
        boolean reusePort,
        int receiveBuffer,
        boolean noDelay,
        @Nullable KeepAlive keepAlive) {
    private static final ListenOptions STANDARD = new ListenOptions(Net.DEFAULT_BACKLOG, false, 0, false, null);

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if the backlog is not positive, or the buffer's size is negative
     */
    public ListenOptions {
        if (backlog < 1) {
            throw new IllegalArgumentException("a backlog is at least 1: " + backlog);
        }
        if (receiveBuffer < 0) {
            throw new IllegalArgumentException("a receive buffer's size is not negative: " + receiveBuffer);
        }
    }

    /**
     * A backlog of {@value Net#DEFAULT_BACKLOG}, a port of its own, and streams with the system's buffers and neither of the other two.
     *
     * @return the same one every time
     */
    public static ListenOptions standard() {
        return STANDARD;
    }

    /**
     * The same with another backlog.
     *
     * @param backlog how many connections may wait to be accepted
     * @return other options
     * @throws IllegalArgumentException if it is not positive
     */
    public ListenOptions withBacklog(int backlog) {
        return new ListenOptions(backlog, reusePort, receiveBuffer, noDelay, keepAlive);
    }

    /**
     * The same with or without a shared port.
     *
     * @param reusePort whether to share the port
     * @return other options
     */
    public ListenOptions withReusePort(boolean reusePort) {
        return new ListenOptions(backlog, reusePort, receiveBuffer, noDelay, keepAlive);
    }

    /**
     * The same with another receive buffer.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's own
     * @return other options
     * @throws IllegalArgumentException if it is negative
     */
    public ListenOptions withReceiveBuffer(int receiveBuffer) {
        return new ListenOptions(backlog, reusePort, receiveBuffer, noDelay, keepAlive);
    }

    /**
     * The same with another delay of small writes.
     *
     * @param noDelay whether accepted streams send them at once
     * @return other options
     */
    public ListenOptions withNoDelay(boolean noDelay) {
        return new ListenOptions(backlog, reusePort, receiveBuffer, noDelay, keepAlive);
    }

    /**
     * The same with another keep-alive.
     *
     * @param keepAlive of accepted streams; or null for none
     * @return other options
     */
    public ListenOptions withKeepAlive(@Nullable KeepAlive keepAlive) {
        return new ListenOptions(backlog, reusePort, receiveBuffer, noDelay, keepAlive);
    }

    /** What of this is set on accepted streams, or on the listener that hands it down; the switch of keep-alive behind its times. */
    Map<SocketSetting, Integer> accepted() {
        Map<SocketSetting, Integer> settings = new LinkedHashMap<>();
        if (noDelay) {
            settings.put(SocketSetting.NO_DELAY, 1);
        }
        if (keepAlive != null) {
            settings.putAll(keepAlive.settings());
        }
        return settings;
    }
}
