package io.millrace.engine.pool;

import io.millrace.engine.internal.FailureLog;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A pool of objects that are expensive to create and can be reused: buffers, parsers, codecs.
 *
 * {@snippet :
 * try (Pooled<ByteBuffer> buffer = buffers.acquire()) {
 *   fill(buffer.get());
 * } // reset, and back in the pool
 * }
 *
 * <p><b>What it guarantees.</b> {@link #acquire} returns the object that has been idle longest, or creates one; so it
 * never waits and never runs out of objects. Closing the {@link Pooled} resets the object and puts it back; if {@link
 * Builder#maxIdle} objects are idle already, it is dropped. An object is never handed out twice at the same time, no
 * matter what is closed and how often: see {@link Pooled}.
 *
 * <p><b>Hooks.</b> Your hooks run on the thread that acquires or closes, without a lock. If the factory throws, so does
 * {@code acquire}, and nothing is changed. If the reset hook throws, the object is dropped: a half-reset object is
 * never handed out. Exceptions of the reset and destroy hooks go to {@link Builder#onError}, or are logged.
 *
 * <p><b>Threads.</b> Any thread may call any method. The pool has no thread and no lock.
 *
 * <p><b>What it never does.</b> It does not limit how many objects are in use, and does not track handles that were
 * lost without close: their objects are garbage-collected, and the pool creates others.
 *
 * @param <T> the type of the objects
 */
public final class ObjectPool<T> implements AutoCloseable {
    private static final int DEFAULT_MAX_IDLE = 256;

    private final String name;
    private final Supplier<? extends T> factory;
    private final @Nullable Consumer<? super T> reset;
    private final @Nullable Consumer<? super T> destroy;
    private final @Nullable Consumer<? super Throwable> onError;
    private final int maxIdle;

    private final MpmcVarHandleArrayQueue<T> idle;
    /**
     * How many objects are in the queue or on their way into it. This is the limit; the array's size is a power of two.
     */
    private final AtomicInteger kept = new AtomicInteger();

    private final LongAdder created = new LongAdder();
    private final LongAdder acquired = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private volatile boolean closed;

    private ObjectPool(Builder<T> builder) {
        this.name = builder.name;
        this.factory = builder.factory;
        this.reset = builder.reset;
        this.destroy = builder.destroy;
        this.onError = builder.onError;
        this.maxIdle = builder.maxIdle;
        this.idle = new MpmcVarHandleArrayQueue<>(Math.max(2, maxIdle));
    }

    /**
     * Opens a pool with the defaults: at most 256 idle objects, none at the beginning, no hooks.
     *
     * @param factory creates an object
     * @param <T> the type of the objects
     * @return an empty pool
     */
    public static <T> ObjectPool<T> of(Supplier<? extends T> factory) {
        return ObjectPool.<T>builder(factory).open();
    }

    /**
     * Opens a pool of buffers with exactly the given capacity. They are handed out cleared and big-endian, but still
     * hold what their last user wrote.
     *
     * @param size the capacity of each buffer in bytes; at least 1
     * @param direct true for memory outside the heap
     * @return an empty pool
     */
    public static ObjectPool<ByteBuffer> ofBuffers(int size, boolean direct) {
        return buffers(size, direct).open();
    }

    /**
     * Returns a builder for a pool of buffers, for settings other than the defaults.
     *
     * @param size the capacity of each buffer in bytes; at least 1
     * @param direct true for memory outside the heap
     * @return a builder whose factory creates such buffers and whose reset hook clears them
     */
    public static Builder<ByteBuffer> buffers(int size, boolean direct) {
        if (size < 1) {
            throw new IllegalArgumentException("a pooled buffer must have at least 1 byte, not " + size);
        }
        return ObjectPool.<ByteBuffer>builder(
                        () -> direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size))
                .reset(buffer -> buffer.clear().order(ByteOrder.BIG_ENDIAN))
                .name((direct ? "direct" : "heap") + " buffers of " + size + " bytes");
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @param factory creates an object
     * @param <T> the type of the objects
     * @return a builder with the defaults
     */
    public static <T> Builder<T> builder(Supplier<? extends T> factory) {
        return new Builder<>(Objects.requireNonNull(factory, "factory"));
    }

    /**
     * Returns an idle object, or creates one.
     *
     * @return the object on loan, which the caller must close
     * @throws IllegalStateException if the pool is closed
     */
    public Pooled<T> acquire() {
        if (closed) {
            throw new IllegalStateException("cannot acquire: the pool of " + name + " is closed");
        }
        T object = takeIdle();
        if (object == null) {
            object = create();
        }
        acquired.increment();
        return new Pooled<>(this, object);
    }

    private @Nullable T takeIdle() {
        T object = idle.poll();
        if (object != null) {
            kept.decrementAndGet();
        }
        return object;
    }

    private T create() {
        T object = factory.get();
        if (object == null) {
            throw new NullPointerException("the factory of the pool of " + name + " returned null");
        }
        created.increment();
        return object;
    }

    /** Takes back an object. Called once by its handle, after which nothing refers to the object any more. */
    void giveBack(T object) {
        if (!closed && isReset(object) && keep(object)) {
            // Pairs with close(): it sets the flag and then empties the queue; here the queue is filled and then the
            // flag is read. Both are volatile, so one of the two sees the other, and no object stays in a closed pool.
            if (closed) {
                dropIdle();
            }
            return;
        }
        drop(object);
    }

    private boolean isReset(T object) {
        if (reset != null) {
            try {
                reset.accept(object);
            } catch (Throwable e) { // whatever it is, close() must not throw it, and the object cannot be reused
                report("the reset hook failed, so the object is dropped", e);
                return false;
            }
        }
        return true;
    }

    private boolean keep(T object) {
        for (; ; ) {
            int seen = kept.get();
            if (seen >= maxIdle) {
                return false;
            }
            if (kept.compareAndSet(seen, seen + 1)) {
                break;
            }
        }
        // Never full: at most maxIdle are counted, and a taker counts down only after it took one out.
        if (!idle.offer(object)) {
            throw new AssertionError("more than " + maxIdle + " idle objects");
        }
        return true;
    }

    private void drop(T object) {
        dropped.increment();
        if (destroy != null) {
            try {
                destroy.accept(object);
            } catch (Throwable e) { // as in isReset()
                report("the destroy hook failed", e);
            }
        }
    }

    private void dropIdle() {
        for (T object = takeIdle(); object != null; object = takeIdle()) {
            drop(object);
        }
    }

    private void report(String what, Throwable failure) {
        if (onError != null) {
            try {
                onError.accept(failure);
                return;
            } catch (Throwable e) { // close() must not throw, not even this
                FailureLog.report("the pool of " + name, e, failure);
                return;
            }
        }
        FailureLog.report("the pool of " + name + ":", what, failure);
    }

    /**
     * Returns what the pool has done.
     *
     * @return the current numbers
     */
    public ObjectPoolMetrics metrics() {
        return new ObjectPoolMetrics(created.sum(), acquired.sum(), kept.get(), dropped.sum());
    }

    /**
     * Drops all idle objects. Nothing can be acquired afterwards, and objects that come back are dropped. Objects on
     * loan stay usable. Idempotent; any thread may call it.
     */
    @Override
    public void close() {
        closed = true;
        dropIdle();
    }

    @Override
    public String toString() {
        ObjectPoolMetrics now = metrics();
        return "pool of " + name + ", " + now.inUse() + " in use, " + now.idle() + " of " + maxIdle + " idle, "
                + now.created() + " created, " + now.acquired() + " acquired, " + now.dropped() + " dropped"
                + (closed ? ", closed" : "");
    }

    /**
     * Collects the settings of a pool. Not thread-safe; it can open several pools.
     *
     * @param <T> the type of the objects
     */
    public static final class Builder<T> {
        private final Supplier<? extends T> factory;
        private String name = "objects";
        private @Nullable Consumer<? super T> reset;
        private @Nullable Consumer<? super T> destroy;
        private @Nullable Consumer<? super Throwable> onError;
        private int maxIdle = DEFAULT_MAX_IDLE;
        private int prefill;

        private Builder(Supplier<? extends T> factory) {
            this.factory = factory;
        }

        /**
         * Sets what the objects are called in messages and {@code toString}.
         *
         * @param newName a plural; {@code objects} by default
         * @return this
         */
        public Builder<T> name(String newName) {
            this.name = Objects.requireNonNull(newName, "name");
            return this;
        }

        /**
         * Sets how many objects are created when the pool is opened.
         *
         * @param count from 0, the default, to {@link #maxIdle}
         * @return this
         */
        public Builder<T> prefill(int count) {
            if (count < 0) {
                throw new IllegalArgumentException("a pool cannot be prefilled with " + count + " objects");
            }
            this.prefill = count;
            return this;
        }

        /**
         * Limits how many idle objects are kept; further objects that come back are dropped. The pool allocates a slot
         * for each.
         *
         * @param count from 0, which keeps none, to 2<sup>24</sup>; 256 by default
         * @return this
         */
        public Builder<T> maxIdle(int count) {
            if (count < 0 || count > 1 << 24) {
                throw new IllegalArgumentException("a pool can keep from 0 to 2^24 idle objects, not " + count);
            }
            this.maxIdle = count;
            return this;
        }

        /**
         * Sets a hook that prepares an object for its next user. It runs when the object comes back.
         *
         * @param hook if it throws, the object is dropped
         * @return this
         */
        public Builder<T> reset(Consumer<? super T> hook) {
            this.reset = Objects.requireNonNull(hook, "reset");
            return this;
        }

        /**
         * Sets a hook that frees what an object holds. It runs once, when the pool drops the object.
         *
         * @param hook exceptions go to {@link #onError}
         * @return this
         */
        public Builder<T> destroy(Consumer<? super T> hook) {
            this.destroy = Objects.requireNonNull(hook, "destroy");
            return this;
        }

        /**
         * Sets a handler for exceptions of the reset and destroy hooks. By default they are logged.
         *
         * @param hook its own exceptions are logged
         * @return this
         */
        public Builder<T> onError(Consumer<? super Throwable> hook) {
            this.onError = Objects.requireNonNull(hook, "onError");
            return this;
        }

        /**
         * Opens a pool and creates its first objects.
         *
         * @return the pool
         * @throws IllegalArgumentException if {@link #prefill} is larger than {@link #maxIdle}
         */
        public ObjectPool<T> open() {
            if (prefill > maxIdle) {
                throw new IllegalArgumentException("a pool that keeps " + maxIdle
                        + " idle objects cannot be prefilled with " + prefill + "; raise maxIdle");
            }
            ObjectPool<T> pool = new ObjectPool<>(this);
            boolean filled = false;
            try {
                for (int i = 0; i < prefill; i++) {
                    pool.keep(pool.create());
                }
                filled = true;
            } finally {
                if (!filled) { // the factory threw: destroy what it created before
                    pool.close();
                }
            }
            return pool;
        }
    }
}
