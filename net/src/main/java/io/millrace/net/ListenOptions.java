package io.millrace.net;

/**
 * What must be known of a TCP listener before it is bound.
 *
 * {@snippet :
 * net.listen(address, ListenOptions.standard().withReusePort(true).withBacklog(128));
 * }
 *
 * @param backlog how many connections may wait to be accepted; the system may take it for less
 * @param reusePort whether others, in any process of the same user, may listen on the same port if they say so too (SO_REUSEPORT);
 *     Linux then spreads the connections over them. Those that wait at a listener that is closed are reset: accept them first.
 * @param receiveBuffer the size of each connection's receive buffer in bytes, or 0 for the system's own, which grows by need
 */
public record ListenOptions(int backlog, boolean reusePort, int receiveBuffer) {
    private static final ListenOptions STANDARD = new ListenOptions(Net.DEFAULT_BACKLOG, false, 0);

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
     * A backlog of {@value Net#DEFAULT_BACKLOG}, a port of its own, and the system's buffers.
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
        return new ListenOptions(backlog, reusePort, receiveBuffer);
    }

    /**
     * The same with or without a shared port.
     *
     * @param reusePort whether to share the port
     * @return other options
     */
    public ListenOptions withReusePort(boolean reusePort) {
        return new ListenOptions(backlog, reusePort, receiveBuffer);
    }

    /**
     * The same with another receive buffer.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's own
     * @return other options
     * @throws IllegalArgumentException if it is negative
     */
    public ListenOptions withReceiveBuffer(int receiveBuffer) {
        return new ListenOptions(backlog, reusePort, receiveBuffer);
    }
}
