package io.millrace.net;

/**
 * What must be known of a UDP socket before it is bound.
 *
 * @param reusePort whether others, in any process of the same user, may bind the same port if they say so too (SO_REUSEPORT); Linux
 *     then spreads the senders over them
 * @param receiveBuffer the size of its receive buffer in bytes, or 0 for the system's own; what does not fit is lost
 */
public record UdpOptions(boolean reusePort, int receiveBuffer) {
    private static final UdpOptions STANDARD = new UdpOptions(false, 0);

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if the buffer's size is negative
     */
    public UdpOptions {
        if (receiveBuffer < 0) {
            throw new IllegalArgumentException("a receive buffer's size is not negative: " + receiveBuffer);
        }
    }

    /**
     * A port of its own, and the system's buffer.
     *
     * @return the same one every time
     */
    public static UdpOptions standard() {
        return STANDARD;
    }

    /**
     * The same with or without a shared port.
     *
     * @param reusePort whether to share the port
     * @return other options
     */
    public UdpOptions withReusePort(boolean reusePort) {
        return new UdpOptions(reusePort, receiveBuffer);
    }

    /**
     * The same with another receive buffer.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's own
     * @return other options
     * @throws IllegalArgumentException if it is negative
     */
    public UdpOptions withReceiveBuffer(int receiveBuffer) {
        return new UdpOptions(reusePort, receiveBuffer);
    }
}
