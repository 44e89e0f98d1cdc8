package io.millrace.engine.internal;

import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor that is kept for when there are no others: it is given up, the connection that waits first is accepted with it and closed, so that the peer learns at once and the queue
 * gets shorter, and it is taken again.
 *
 * <p>It also tells whether anybody waits at all. Linux looks for a free descriptor before it looks at the queue, so without one an accept fails on an empty queue, too.
 *
 * <p>By one thread at a time.
 */
public final class SpareDescriptor implements AutoCloseable {
    /** What became of an attempt. */
    public enum Outcome {
        /** The connection that waited first was closed. There may be more. */
        TURNED_AWAY,
        /** Nobody waits. */
        NOBODY,
        /** There is no spare one, or another thread was faster to take it. */
        NOT_TO_BE_HAD
    }

    private @Nullable InputStream spare;
    private boolean closed;

    /** Takes one, if there is one. */
    public SpareDescriptor() {
        // A class that is first used when there are no descriptors may not be found, and never again.
        isLacking(new ErrnoException("accept", -1, Outcome.values().length + Errno.EMFILE.code()));
        take();
    }

    /**
     * Whether an accept failed because there are no more descriptors.
     *
     * @param failure what it threw
     * @return true if this process or the system has none left
     */
    public static boolean isLacking(IOException failure) {
        return failure instanceof ErrnoException errno
                ? errno.is(Errno.EMFILE) || errno.is(Errno.ENFILE)
                : String.valueOf(failure.getMessage()).contains("Too many open files");
    }

    /**
     * Closes the connection that waits first.
     *
     * @param listener whose accept has just failed
     * @return whether there was one
     */
    public Outcome turnAway(TcpListener listener) {
        take();
        InputStream given = spare;
        if (given == null) {
            return Outcome.NOT_TO_BE_HAD;
        }
        spare = null;
        try {
            given.close();
            TcpStream stream = listener.accept();
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

    /** Has one, if there is one. */
    private void take() {
        if (spare == null && !closed) {
            try {
                spare = new FileInputStream("/dev/null");
            } catch (IOException e) {
                spare = null; // Then those who wait stay in the kernel's queue.
            }
        }
    }

    /** Gives it up for good. Idempotent. */
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
