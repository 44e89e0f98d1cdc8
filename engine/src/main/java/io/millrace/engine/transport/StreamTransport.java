package io.millrace.engine.transport;

import io.millrace.net.FileSource;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Moves the bytes of one connection for its {@link TransportSink}. On the loop only. */
public interface StreamTransport {
    /**
     * How many bytes of files a connection may send before it goes behind the others, so that one on a fast network
     * does not keep the loop to itself.
     */
    int FILE_SHARE = 1 << 20;

    /**
     * Sends as many bytes of several buffers, in order, as the system takes now; their positions advance. If something
     * is left, {@link TransportSink#onWritable} is called later.
     *
     * @param buffers the buffers
     * @param first the index of the first buffer to send
     * @param count how many buffers to send
     * @return true if everything was taken
     * @throws IOException if the connection is broken; the caller closes the transport
     */
    boolean send(ByteBuffer[] buffers, int first, int count) throws IOException;

    /**
     * Sends one buffer: see {@link #send(ByteBuffer[], int, int)}.
     *
     * @param buffer its position advances
     * @return true if everything was taken
     * @throws IOException if the connection is broken; the caller closes the transport
     */
    boolean send(ByteBuffer buffer) throws IOException;

    /**
     * Sends as many bytes of a file as the system takes now, up to the connection's {@link #FILE_SHARE} of this turn.
     * If fewer are taken than {@code count}, {@link TransportSink#onWritable} is called later.
     *
     * @param file open for reading; the caller closes it
     * @param position where to start in the file
     * @param count how many bytes to send
     * @return how many bytes were taken; or {@link io.millrace.net.Io#EOF} if the file has none at the position
     * @throws IOException if the connection is broken or the file cannot be read
     */
    long sendFile(FileSource file, long position, long count) throws IOException;

    /** Tells the peer that no more bytes will follow. */
    void closeOutput();

    /**
     * Returns whether there may be unread input. If so, closing makes the system reset the connection, and the peer may
     * lose what it was sent.
     *
     * @return false if the last read found nothing, or the end
     */
    boolean hasInput();

    /**
     * Reads what has arrived within this call, whether or not the system has reported it, up to a share of a turn; then
     * {@link #hasInput} says whether there is more. The sink is called before this returns, also for an end or a
     * failure. Does nothing while it is paused, connecting or closed.
     */
    void readNow();

    /** Stops calling {@link TransportSink#onReceived} until {@link #resume}. */
    void pause();

    /** Undoes {@link #pause}. */
    void resume();

    /** Closes the connection at once. The sink is not called any more. Idempotent. */
    void close();

    /**
     * Closes the connection at once, like {@link #close}, after a failure or a loss: a transport that tells its peer of
     * a regular end must not do so.
     */
    default void abort() {
        close();
    }

    /**
     * Returns whether it was closed.
     *
     * @return true from then on
     */
    boolean isClosed();
}
