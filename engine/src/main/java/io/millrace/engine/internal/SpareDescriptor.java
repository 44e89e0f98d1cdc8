package io.millrace.engine.internal;

import io.millrace.net.ByteStream;
import io.millrace.net.StreamListener;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor kept in reserve for when the process runs out of them. It is closed, the first waiting connection is
 * accepted with the freed number and closed, and the reserve is opened again. So the peer learns at once that it is
 * turned away, and the queue gets shorter.
 *
 * <p>It also finds out whether any connection is waiting. Linux looks for a free descriptor before it looks at the
 * queue, so without one, an accept fails even if the queue is empty.
 *
 * <p>Used by one thread at a time.
 */
public final class SpareDescriptor implements AutoCloseable {
    /** The outcome of {@link #turnAway}. */
    public enum Outcome {
        /** The first waiting connection was closed. There may be more. */
        TURNED_AWAY,
        /** No connection was waiting. */
        NOBODY,
        /** There was no spare descriptor, or another thread took the freed number first. */
        NOT_TO_BE_HAD
    }

    private @Nullable InputStream spare;
    private boolean closed;

    /** Opens the spare descriptor, if possible. */
    public SpareDescriptor() {
        // Loads the classes now: a class that is first used without free descriptors may fail to load, and then always
        // will.
        isLacking(new ErrnoException("accept", -1, Outcome.values().length + Errno.EMFILE.code()));
        take();
    }

    /**
     * Returns whether an accept failed because there are no more descriptors.
     *
     * @param failure what accept threw
     * @return true if this process or the system has none left
     */
    public static boolean isLacking(IOException failure) {
        return failure instanceof ErrnoException errno
                ? errno.is(Errno.EMFILE) || errno.is(Errno.ENFILE)
                : String.valueOf(failure.getMessage()).contains("Too many open files");
    }

    /**
     * Accepts and closes the first waiting connection.
     *
     * @param listener the listener whose accept has just failed
     * @return whether there was one
     */
    public Outcome turnAway(StreamListener listener) {
        take();
        InputStream given = spare;
        if (given == null) {
            return Outcome.NOT_TO_BE_HAD;
        }
        spare = null;
        try {
            given.close();
            ByteStream stream = listener.accept();
            if (stream == null) {
                return Outcome.NOBODY;
            }
            stream.close();
            return Outcome.TURNED_AWAY;
        } catch (IOException e) {
            return Outcome.NOT_TO_BE_HAD;
        } finally {
            take();
        }
    }

    /** Opens the spare descriptor, if possible. */
    private void take() {
        if (spare == null && !closed) {
            try {
                spare = new FileInputStream("/dev/null");
            } catch (IOException e) {
                spare = null; // then waiting connections stay in the kernel's queue
            }
        }
    }

    /** Closes the spare descriptor for good. Idempotent. */
    @Override
    public void close() {
        closed = true;
        InputStream given = spare;
        spare = null;
        if (given != null) {
            try {
                given.close();
            } catch (IOException e) {
                FailureLog.report("giving up a spare descriptor", e);
            }
        }
    }
}
