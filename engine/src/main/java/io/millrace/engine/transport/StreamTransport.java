package io.millrace.engine.transport;

import io.millrace.net.FileSource;
import java.io.IOException;
import java.nio.ByteBuffer;

/** One connection, as its owner moves it. On its loop only. */
public interface StreamTransport {
    /** How many bytes of files a connection sends before it goes behind the others: one on a fast network must not be served alone. */
    int FILE_SHARE = 1 << 20;

    /**
     * Gives bytes to the system, of several buffers in their order, as many as it takes now; their positions advance. If something is left, {@link
     * TransportHandler#writable} comes.
     *
     * @param buffers in their order
     * @param first the index of the first
     * @param count how many of them
     * @return true if all was taken
     * @throws IOException if the connection is broken; the transport is closed
     */
    boolean send(ByteBuffer[] buffers, int first, int count) throws IOException;

    /**
     * As {@link #send(ByteBuffer[], int, int)}, of one buffer.
     *
     * @param buffer its position advances
     * @return true if all was taken
     * @throws IOException if the connection is broken; the transport is closed
     */
    boolean send(ByteBuffer buffer) throws IOException;

    /**
     * Gives bytes of a file to the system, as many as it takes now, up to the connection's {@link #FILE_SHARE} of this turn. If it returns fewer than were asked for, {@link
     * TransportHandler#writable} comes.
     *
     * @param file open for reading, the caller's
     * @param position in the file
     * @param count how many bytes
     * @return how many were taken; or {@link io.millrace.net.Io#EOF} if the file has none at the position
     * @throws IOException if the connection is broken or the file cannot be read
     */
    long sendFile(FileSource file, long position, long count) throws IOException;

    /** Tells the peer that no more will come. */
    void closeOutput();

    /**
     * Whether something may be there to be read. Closing then makes the system reset the connection, and the peer may lose what it was sent.
     *
     * @return false if the last read found nothing, or the end
     */
    boolean hasInput();

    /**
     * Reads what has arrived, here and now, whether or not the system has told of it: a share of a turn, after which {@link #hasInput} says whether there is more. The
     * handler is told before this returns, also of an end or a failure. Does nothing while it is paused, being connected, or closed.
     */
    void readNow();

    /** No {@link TransportHandler#received} from now on, until {@link #resume}. */
    void pause();

    /** Undoes {@link #pause}. */
    void resume();

    /** Closes it at once. The handler is told nothing more. Idempotent. */
    void close();

    /**
     * Whether it was closed.
     *
     * @return true from then on
     */
    boolean isClosed();
}
