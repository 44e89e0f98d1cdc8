package io.millrace.engine.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * An object on loan from an {@link ObjectPool}; close it to give the object back.
 * <pre>{@code
 * try (Pooled<ByteBuffer> buffer = buffers.acquire()) {
 *   channel.read(buffer.get());
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> Each acquire returns a new handle, and the first close takes the object out of it in
 * one atomic step. So a second close, by any thread and at any time, does nothing: it neither returns the object twice
 * nor takes it from its next user.
 *
 * <p><b>Threads.</b> Any thread may close it. The object itself is only as thread-safe as it was made. It must not be
 * used after close; the handle cannot prevent that.
 *
 * @param <T> the type of the object
 */
public final class Pooled<T> implements AutoCloseable {
    private static final VarHandle OBJECT;

    static {
        try {
            OBJECT = MethodHandles.lookup().findVarHandle(Pooled.class, "object", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ObjectPool<T> pool;
    /** Null after close. */
    private volatile @Nullable Object object;

    Pooled(ObjectPool<T> pool, T object) {
        this.pool = pool;
        // Plain: no other thread sees it before the caller publishes it. This saves the fence of a volatile store.
        OBJECT.set(this, object);
    }

    /**
     * Returns the object.
     *
     * @return the same object until close
     * @throws IllegalStateException if closed, because the object may be in use elsewhere by now
     */
    @SuppressWarnings("unchecked") // set by the constructor
    public T get() {
        Object present = object;
        if (present == null) {
            throw new IllegalStateException("this handle is closed: its object went back to " + pool
                    + "; use it before close, or acquire another");
        }
        return (T) present;
    }

    /**
     * Gives the object back. Idempotent; any thread may call it. Never throws: see {@link ObjectPool.Builder#onError}.
     */
    @Override
    @SuppressWarnings("unchecked") // set by the constructor
    public void close() {
        Object returned = OBJECT.getAndSet(this, null);
        if (returned != null) {
            pool.giveBack((T) returned);
        }
    }

    @Override
    public String toString() {
        Object present = object;
        return present == null ? "pooled, closed" : "pooled " + present;
    }
}
