package io.millrace.server.connection;

import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.LentBuffer;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.framing.FramedHandler;
import io.millrace.server.support.ConnectionLog;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Finds handlers that keep the buffer of {@code onData}, with {@code -Dmillrace.debug=buffers}. Each call gets a copy of its own, which is overwritten and unusable when the call has returned. A copy that is still
 * reachable after garbage was collected, or whose later use throws in a callback, is reported with the handler that was given it.
 *
 * <p>Without the option {@link #ON} is a constant, and nothing of this exists in compiled code.
 */
final class DebugBuffers {
    private static final String PROPERTY = "millrace.debug";

    static final boolean ON = isOn(System.getProperty(PROPERTY, ""));

    /** So many calls are looked at until garbage is collected. */
    private static final int MOST = 4096;

    private static final String REMEDY =
            "The buffer is reused when onData returns: copy what you need later, for example with ByteBuffer.allocate(data.remaining()).put(data).flip()";

    private static final String OURS = Connection.class.getPackageName() + ".";
    private static final ConcurrentLinkedQueue<Lent> LENT = new ConcurrentLinkedQueue<>();
    private static final AtomicInteger COUNT = new AtomicInteger();

    private DebugBuffers() {}

    /** A copy that was taken back; by names, because nothing may be kept alive by this. */
    private record Lent(LentBuffer buffer, String handler, String connection, long atNanos) {}

    static boolean isOn(String property) {
        boolean on = false;
        for (String word : property.split(",", -1)) {
            if (word.strip().equals("buffers")) {
                on = true;
            } else if (!word.isBlank()) {
                FailureLog.warn("unknown word " + word.strip() + " in -D" + PROPERTY + "=" + property
                        + ", which is ignored; the only one there is: buffers");
            }
        }
        return on;
    }

    /** Calls {@code onData} with a copy of the bytes. What the handler has consumed of the copy counts as consumed. */
    static void deliver(ConnectionHandler handler, StreamConnection connection, ByteBuffer data) throws Exception {
        lookBack();
        LentBuffer copy = LentBuffer.lend(data);
        try {
            call(handler, connection, copy, data);
        } finally {
            boolean unused = copy.takeBack();
            Lent taken = new Lent(copy, name(handler), connection.toString(), System.nanoTime());
            if (unused) {
                remember(taken);
            } else {
                report(taken, "is using the buffer on another thread that it got on ");
            }
        }
    }

    /**
     * Calls the handler. A method of its own, so that no frame of ours holds the buffer when it is taken back: a collection at that moment, which an interpreter's frame would keep it from, would make us accuse the
     * handler.
     */
    private static void call(ConnectionHandler handler, StreamConnection connection, LentBuffer copy, ByteBuffer data)
            throws Exception {
        ByteBuffer lent = copy.buffer();
        try {
            handler.onData(connection, lent);
        } finally {
            data.position(data.position() + lent.position());
        }
    }

    private static String name(ConnectionHandler handler) {
        ConnectionHandler own = handler instanceof FramedHandler framed ? framed.handler() : handler;
        return own.getClass().getName();
    }

    private static void remember(Lent lent) {
        LENT.add(lent);
        if (COUNT.incrementAndGet() > MOST) {
            take();
        }
    }

    private static void take() {
        if (LENT.poll() != null) {
            COUNT.decrementAndGet();
        }
    }

    /** Looks whether those are still held that should not be. In their order: what is younger was collected later. */
    static void lookBack() {
        for (Lent first = LENT.peek(); first != null && first.buffer.canBeJudged(); first = LENT.peek()) {
            take();
            if (first.buffer.isKept()) {
                report(first, "has kept the buffer that it got on ");
            }
        }
    }

    private static void report(Lent lent, String what) {
        ConnectionLog.standard()
                .log(
                        ConnectionLog.Kind.KEPT_BUFFER,
                        null,
                        "onData of ",
                        lent.handler,
                        " ",
                        what,
                        lent.connection,
                        ", " + (System.nanoTime() - lent.atNanos) / 1_000_000,
                        " ms after it returned. ",
                        REMEDY);
    }

    /** A callback has thrown: if because it used such a buffer, it is said which handler did, and where. */
    static void explain(ConnectionHandler handler, Connection connection, Throwable thrown) {
        if (LentBuffer.isUseAfterEnd(thrown)) {
            ConnectionLog.standard()
                    .log(
                            ConnectionLog.Kind.KEPT_BUFFER,
                            null,
                            "a callback of ",
                            name(handler),
                            " on ",
                            connection,
                            " used a buffer that onData had kept, or memory that was closed, at ",
                            place(thrown),
                            ". ",
                            REMEDY);
        }
    }

    /** The innermost call that is neither the JDK's nor ours. */
    private static Object place(Throwable thrown) {
        for (StackTraceElement call : thrown.getStackTrace()) {
            String where = call.getClassName();
            if (!where.startsWith("java.") && !where.startsWith("jdk.") && !where.startsWith(OURS)) {
                return call;
            }
        }
        return "a place that is not known";
    }
}
