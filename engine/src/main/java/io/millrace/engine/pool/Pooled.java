package io.millrace.engine.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * An object on loan from an {@link ObjectPool}; close it to give the object back.
 *
 * <pre>{@code
 * try (Pooled<ByteBuffer> buffer = buffers.acquire()) {
 *     channel.read(buffer.get());
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> Each acquire has a handle of its own, and the first close takes the object out of it by one atomic step. So a second
 * close, by this thread or another, at once or an hour later, returns nothing: neither the object twice nor its next owner's.
 *
 * <p><b>Threads.</b> Any thread may close it. The object itself is as safe as it was made: after close nobody may touch it any more, and the
 * handle cannot keep them from it.
 *
 * @param <T> the object
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
    /** Null once closed. */
    private volatile @Nullable Object object;

    Pooled(ObjectPool<T> pool, T object) {
        this.pool = pool;
        // Plain: nobody shares it yet, and whoever does publishes it. Saves the fence of a volatile store.
        OBJECT.set(this, object);
    }

    /**
     * The object.
     *
     * @return the same one until close
     * @throws IllegalStateException if closed: the object may be somebody else's by now
     */
    @SuppressWarnings("unchecked") // what the constructor was given
    public T get() {
        Object present = object;
        if (present == null) {
            throw new IllegalStateException("this handle is closed: its object went back to " + pool
                    + "; use it before close, or acquire another");
        }
        return (T) present;
    }

    /** Gives the object back. Idempotent, from any thread; never throws: see {@link ObjectPool.Builder#onError}. */
    @Override
    @SuppressWarnings("unchecked") // what the constructor was given
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
