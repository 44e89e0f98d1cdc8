package io.millrace.server;

import io.millrace.engine.internal.FailureLog;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where failures of connections go that no handler of the user's takes care of: the log, with at most one line a second of each kind, which says how many were left out.
 *
 * <p>Nothing that it is given can make it fail: what {@code toString} or {@code getMessage} throw ends here. It holds no lock while it logs. Any thread.
 */
final class ConnectionLog {
    /** Lines of one kind do not displace those of another. */
    enum Kind {
        /** A callback threw: the user's mistake, so with its stack. */
        CALLBACK(Level.WARNING),
        /** What should have taken care of a failure failed itself. */
        ON_ERROR(Level.WARNING),
        /** A limit ended a connection. */
        LIMIT(Level.WARNING),
        /** A limit turned a connection away. */
        TURNED_AWAY(Level.WARNING),
        /** The system could not accept, e.g. because too many files are open. */
        NOT_ACCEPTED(Level.WARNING),
        /** The peer or the network. It happens. */
        PEER(Level.DEBUG);

        private final Level level;

        Kind(Level level) {
            this.level = level;
        }
    }

    private static final long PAUSE_NANOS = 1_000_000_000;

    private static final ConnectionLog STANDARD =
            new ConnectionLog(System.getLogger("io.millrace.server"), System::nanoTime);

    /** What the callback threw whose {@code onError} is running on this thread. */
    private static final ThreadLocal<@Nullable Throwable> THROWN = new ThreadLocal<>();

    private final System.Logger logger;
    private final LongSupplier clock;
    private final Map<Kind, Lane> lanes = new EnumMap<>(Kind.class);

    ConnectionLog(System.Logger logger, LongSupplier clock) {
        this.logger = logger;
        this.clock = clock;
        for (Kind kind : Kind.values()) {
            lanes.put(kind, new Lane(clock.getAsLong()));
        }
    }

    /** When the next line may be written, and how many were not since the last. */
    private static final class Lane {
        private final AtomicLong nextAt;
        private final AtomicLong leftOut = new AtomicLong();

        Lane(long now) {
            this.nextAt = new AtomicLong(now);
        }

        boolean mayLog(long now) {
            long at = nextAt.get();
            if (now - at >= 0 && nextAt.compareAndSet(at, now + PAUSE_NANOS)) {
                return true;
            }
            leftOut.incrementAndGet();
            return false;
        }
    }

    /** Loads what a line needs, while there are memory and descriptors for it: see {@link FailureLog#prepare}. Does not fail. */
    static void prepare() {
        try {
            STANDARD.logger.isLoggable(new LimitException("").kind().level);
        } catch (Throwable e) {
            // A logger of the user's.
        }
    }

    static ConnectionLog standard() {
        return STANDARD;
    }

    // ---- What handlers are told ----

    /** Tells a handler what its callback threw, so that {@link #byDefault} knows. Whatever the handler does, this returns. */
    static void tellThrown(ConnectionHandler handler, @Nullable Connection connection, Throwable thrown) {
        Throwable outer = THROWN.get();
        THROWN.set(thrown);
        try {
            tell(handler, connection, thrown);
        } finally {
            THROWN.set(outer);
        }
    }

    /** Tells a handler of a failure. Whatever the handler does, this returns. */
    static void tell(ConnectionHandler handler, @Nullable Connection connection, Throwable failure) {
        try {
            handler.onError(connection, failure);
        } catch (Throwable e) {
            STANDARD.log(
                    Kind.ON_ERROR,
                    e,
                    "onError of ",
                    handler,
                    " threw, when it was told of ",
                    failure,
                    connection == null ? "" : " on ",
                    connection == null ? "" : connection);
        }
    }

    /** What {@link ConnectionHandler#onError} does unless it is overridden. */
    @SuppressWarnings("ReferenceEquality") // the very one that was thrown
    void byDefault(ConnectionHandler handler, @Nullable Connection connection, Throwable failure) {
        if (failure == THROWN.get()) {
            log(
                    Kind.CALLBACK,
                    failure,
                    "a callback of ",
                    handler,
                    " threw",
                    connection == null ? "" : "; closing ",
                    connection == null ? "" : connection);
            if (connection != null) {
                connection.close();
            }
        } else if (failure instanceof LimitException limit) {
            log(limit.kind(), null, limit.getMessage());
        } else {
            log(
                    Kind.PEER,
                    failure,
                    connection == null ? "a connection could not be accepted" : connection,
                    connection == null ? "" : " failed");
        }
    }

    // ---- Writing ----

    /** Writes a line, unless there was one of this kind a moment ago. */
    void log(Kind kind, @Nullable Throwable stack, @Nullable Object... parts) {
        try {
            if (!logger.isLoggable(kind.level)) {
                return;
            }
            Lane lane = lanes.get(kind);
            if (lane == null || !lane.mayLog(clock.getAsLong())) {
                return;
            }
            StringBuilder text = new StringBuilder();
            for (Object part : parts) {
                text.append(part == null ? "null" : FailureLog.name(part));
            }
            long leftOut = lane.leftOut.getAndSet(0);
            if (leftOut > 0) {
                text.append(" (").append(leftOut).append(" more like this were left out)");
            }
            write(kind.level, text.toString(), stack);
        } catch (Throwable e) {
            FailureLog.report("the log of connections", e);
        }
    }

    private void write(Level level, String text, @Nullable Throwable stack) {
        if (stack == null) {
            logger.log(level, text);
            return;
        }
        try {
            logger.log(level, text, stack);
        } catch (Throwable e) {
            // Its message cannot be had.
            logger.log(level, text + ": " + stack.getClass().getName());
        }
    }
}
