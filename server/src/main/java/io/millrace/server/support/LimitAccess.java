package io.millrace.server.support;

import io.millrace.server.LimitException;
import java.lang.invoke.MethodHandles;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Creates {@link LimitException}s, and tells how each is logged. Implemented by that class, which hands it over here; so
 * none of it is public there.
 */
public abstract class LimitAccess {
    private static volatile @Nullable LimitAccess instance;

    /** For the one implementation. */
    protected LimitAccess() {}

    /** Called by the class {@link LimitException} when it is initialised. */
    public static void set(LimitAccess access) {
        instance = access;
    }

    private static LimitAccess get() {
        if (instance == null) {
            try {
                MethodHandles.lookup().ensureInitialized(LimitException.class);
            } catch (IllegalAccessException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
        return Objects.requireNonNull(instance);
    }

    /** Creates the reason of a connection that is closed. */
    public static LimitException closed(String message) {
        return get().create(ConnectionLog.Kind.LIMIT, message, null);
    }

    /** Creates the reason of a connection that is turned away. */
    public static LimitException turnedAway(String message, InetSocketAddress remote) {
        return get().create(ConnectionLog.Kind.TURNED_AWAY, message, remote);
    }

    static ConnectionLog.Kind kind(LimitException failure) {
        return get().kindOf(failure);
    }

    /** Creates one. */
    protected abstract LimitException create(
            ConnectionLog.Kind kind, String message, @Nullable InetSocketAddress remote);

    /** Returns how it is logged. */
    protected abstract ConnectionLog.Kind kindOf(LimitException failure);
}
