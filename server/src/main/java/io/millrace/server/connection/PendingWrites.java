package io.millrace.server.connection;

import java.io.IOException;
import java.util.ArrayDeque;

/**
 * The callbacks of writes whose bytes are not all sent yet, in the order of their positions. Exists only while there
 * are some. Used on the loop only.
 */
final class PendingWrites {
    private final ConnectionOutput output;
    private final ArrayDeque<Errands.Written> waiting = new ArrayDeque<>();
    /** Whether those that are due will be called at the end of the turn. */
    private boolean telling;

    PendingWrites(ConnectionOutput output) {
        this.output = output;
    }

    /** Adds a callback. Its position is not before that of any other. */
    void add(Errands.Written then) {
        waiting.add(then);
        tellSoon();
    }

    /** Has those called that are due. Not called directly: the calling code is in the middle of a callback or a write. */
    void tellSoon() {
        if (!telling && isDue()) {
            telling = true;
            output.loop.atEndOfTurn(output::tellWritten);
        }
    }

    private boolean isDue() {
        Errands.Written first = waiting.peekFirst();
        return first != null && isWritten(first);
    }

    private boolean isWritten(Errands.Written write) {
        return write.position <= output.bytesSent();
    }

    /**
     * Calls those that are due, except those that the callbacks add: a callback that sends again must not keep the loop.
     * Returns whether none is left.
     */
    boolean tell() {
        telling = false;
        for (int left = waiting.size(); left > 0 && isDue(); left--) {
            output.perform(waiting.removeFirst(), null);
        }
        tellSoon();
        return waiting.isEmpty();
    }

    /**
     * Calls all, because the connection is over.
     *
     * @param ended told to those whose bytes are lost
     */
    void endAll(IOException ended) {
        while (!waiting.isEmpty()) {
            Errands.Written first = waiting.removeFirst();
            output.perform(first, isWritten(first) ? null : ended);
        }
    }
}
