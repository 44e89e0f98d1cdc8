package io.millrace.server.support;

import io.millrace.engine.internal.FailureLog;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.LimitException;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs failures of connections that no handler takes care of: at most one line a second of each kind, which says how
 * many were left out.
 *
 * <p>Its arguments cannot make it fail: exceptions from their {@code toString} or {@code getMessage} are caught here.
 * It holds no lock while it logs. Any thread.
 */
public final class ConnectionLog {
    /** What happened. Lines of one kind do not displace those of another. */
    public enum Kind {
        /** A callback threw. This is a mistake in the user's code, so the line has a stack trace. */
        CALLBACK(Level.WARNING),
        /** The handler's {@code onError} threw. */
        ON_ERROR(Level.WARNING),
        /** A limit closed a connection. */
        LIMIT(Level.WARNING),
        /** A limit turned a connection away. */
        TURNED_AWAY(Level.WARNING),
        /** A proxy could not connect upstream. */
        NOT_RELAYED(Level.WARNING),
        /** The system could not accept a connection, for example because too many files are open. */
        NOT_ACCEPTED(Level.WARNING),
        /** A handler has kept the buffer of a call: see {@code DebugBuffers}. */
        KEPT_BUFFER(Level.WARNING),
        /** The peer or the network failed, which is normal. */
        PEER(Level.DEBUG);

        private final Level level;

        Kind(Level level) {
            this.level = level;
        }
    }

    private static final long PAUSE_NANOS = 1_000_000_000;

    private static final ConnectionLog STANDARD =
            new ConnectionLog(System.getLogger("io.millrace.server"), System::nanoTime);

    /** What the callback threw whose {@code onError} is running on the current thread. */
    private static final ThreadLocal<@Nullable Throwable> THROWN = new ThreadLocal<>();

    private final System.Logger logger;
    private final LongSupplier clock;
    private final Map<Kind, Lane> lanes = new EnumMap<>(Kind.class);

    public ConnectionLog(System.Logger logger, LongSupplier clock) {
        this.logger = logger;
        this.clock = clock;
        for (Kind kind : Kind.values()) {
            lanes.put(kind, new Lane(clock.getAsLong()));
        }
    }

    /** When the next line of a kind may be written, and how many were left out since the last one. */
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

    /**
     * Loads the classes that a line needs while there is still memory and a descriptor for them: see {@link
     * FailureLog#prepare}. Does not fail.
     */
    public static void prepare() {
        try {
            STANDARD.logger.isLoggable(LimitAccess.kind(LimitAccess.closed("")).level);
        } catch (Throwable e) {
            // The user's logger threw.
        }
    }

    public static ConnectionLog standard() {
        return STANDARD;
    }

    // ---- Telling handlers ----

    /** Calls {@code onError} with what a callback threw, so that {@link #logByDefault} recognizes it. Never throws. */
    public static void tellThrown(ConnectionHandler handler, @Nullable Connection connection, Throwable thrown) {
        Throwable outer = THROWN.get();
        THROWN.set(thrown);
        try {
            tell(handler, connection, thrown);
        } finally {
            THROWN.set(outer);
        }
    }

    /** Calls {@code onError} with a failure. Never throws. */
    public static void tell(ConnectionHandler handler, @Nullable Connection connection, Throwable failure) {
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

    /** The default implementation of {@link ConnectionHandler#onError} and {@code HandlerFactory.onError}. */
    @SuppressWarnings("ReferenceEquality") // is it the exception that the callback threw?
    public void logByDefault(Object handler, @Nullable Connection connection, Throwable failure) {
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
            log(LimitAccess.kind(limit), null, limit.getMessage());
        } else if (failure instanceof NotRelayedException) {
            log(Kind.NOT_RELAYED, null, failure.getMessage());
        } else {
            log(
                    Kind.PEER,
                    failure,
                    connection == null ? "a connection could not be accepted" : connection,
                    connection == null ? "" : " failed");
        }
    }

    // ---- Writing ----

    /** Writes a line, unless one of this kind was written less than a second ago. */
    public void log(Kind kind, @Nullable Throwable stack, @Nullable Object... parts) {
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
            // getMessage() threw.
            logger.log(level, text + ": " + stack.getClass().getName());
        }
    }
}
