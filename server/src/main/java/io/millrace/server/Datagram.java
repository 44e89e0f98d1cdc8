package io.millrace.server;

import io.millrace.engine.transport.DatagramTransport;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A datagram that a {@link UdpServer} has received: who sent it, and how to answer. There is one object for all datagrams
 * of a loop, so it must not be kept: its methods throw outside the call of the handler.
 *
 * <p><b>Threads.</b> The handler's, during its call.
 */
public final class Datagram {
    private final UdpServer server;
    private final DatagramTransport transport;
    private boolean valid;

    Datagram(UdpServer server, DatagramTransport transport) {
        this.server = server;
        this.transport = transport;
    }

    void setValid(boolean now) {
        valid = now;
    }

    /**
     * Returns the sender's address.
     *
     * @return the same object as for the datagram before, if it is the same sender; else a new one, which is the only
     *     thing that is allocated for a datagram
     */
    public InetSocketAddress sender() {
        return transport().sender();
    }

    /**
     * Sends a datagram to the sender. It goes out with the answers to others when the handler has been called for all
     * that were received together. The bytes are taken before this returns.
     *
     * @param answer all that remains of it
     * @return false if it is dropped, because the system does not take any more at the moment: as any datagram, it may be
     *     lost anyway
     * @throws IllegalArgumentException if it is longer than {@link UdpServer.Builder#maxDatagram}
     */
    public boolean reply(ByteBuffer answer) {
        return transport().answer(answer);
    }

    /**
     * Sends text to the sender, in UTF-8.
     *
     * @param text the text
     * @return as {@link #reply(ByteBuffer)}
     */
    public boolean reply(String text) {
        return reply(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Returns the server that received it.
     *
     * @return to send to others
     */
    public UdpServer server() {
        return server;
    }

    private DatagramTransport transport() {
        if (!valid) {
            throw new IllegalStateException(
                    "a datagram can be used only while its handler is called; to answer later, keep its sender() and"
                            + " use UdpServer.send");
        }
        return transport;
    }

    @Override
    public String toString() {
        return valid ? "datagram from " + sender() : "datagram of " + server;
    }
}
