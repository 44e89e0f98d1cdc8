package io.millrace.net;

/**
 * Settings of a UDP socket that must be known before it is bound.
 *
 * @param reusePort whether other sockets, in any process of the same user, may bind the same port if they set this, too
 *     (SO_REUSEPORT); Linux then distributes the senders over them
 * @param receiveBuffer the size of its receive buffer in bytes, or 0 for the system's default; datagrams that do not
 *     fit are lost
 */
public record UdpOptions(boolean reusePort, int receiveBuffer) {
    private static final UdpOptions STANDARD = new UdpOptions(false, 0);

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if the size of the buffer is negative
     */
    public UdpOptions {
        if (receiveBuffer < 0) {
            throw new IllegalArgumentException("a receive buffer's size is not negative: " + receiveBuffer);
        }
    }

    /**
     * Returns the default options: a port that is not shared, and the system's buffer.
     *
     * @return always the same one
     */
    public static UdpOptions standard() {
        return STANDARD;
    }

    /**
     * Returns the same options with or without a shared port.
     *
     * @param reusePort whether to share the port
     * @return new options
     */
    public UdpOptions withReusePort(boolean reusePort) {
        return new UdpOptions(reusePort, receiveBuffer);
    }

    /**
     * Returns the same options with another receive buffer.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's default
     * @return new options
     * @throws IllegalArgumentException if it is negative
     */
    public UdpOptions withReceiveBuffer(int receiveBuffer) {
        return new UdpOptions(reusePort, receiveBuffer);
    }
}
