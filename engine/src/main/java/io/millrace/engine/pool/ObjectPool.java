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
    /** Objects in the queue or on their way into it: the array is a power of two, this is what bounds it. */
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
     * A pool with the defaults: at most 256 idle objects, none at the beginning, no hooks.
     *
     * @param factory makes an object
     * @param <T> the objects
     * @return an empty pool
     */
    public static <T> ObjectPool<T> of(Supplier<? extends T> factory) {
        return ObjectPool.<T>builder(factory).open();
    }

    /**
     * A pool of buffers with exactly that capacity. They come out cleared and big-endian; what the last user wrote is still in them.
     *
     * @param size the capacity of each, in bytes; at least 1
     * @param direct true for memory outside of the heap
     * @return an empty pool
     */
    public static ObjectPool<ByteBuffer> ofBuffers(int size, boolean direct) {
        return buffers(size, direct).open();
    }

    /**
     * For buffers and anything else than the defaults.
     *
     * @param size the capacity of each, in bytes; at least 1
     * @param direct true for memory outside of the heap
     * @return a builder whose factory makes such buffers and whose reset clears them
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
     * For anything else than the defaults.
     *
     * @param factory makes an object
     * @param <T> the objects
     * @return a builder with the defaults
     */
    public static <T> Builder<T> builder(Supplier<? extends T> factory) {
        return new Builder<>(Objects.requireNonNull(factory, "factory"));
    }

    /**
     * Hands out an idle object, or makes one.
     *
     * @return the object on loan, the caller's to close
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

    /** By a handle, once: what it returns is nobody's any more. */
    void giveBack(T object) {
        if (!closed && isReset(object) && keep(object)) {
            // Pairs with close(): it sets the flag and then empties the queue, we filled the queue and then look at the
            // flag. Both are
            // volatile, so one of us sees the other, and no object stays in a closed pool.
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
            } catch (
                    Throwable e) { // whatever it is, close() is no place to throw it, and the object is not fit for use
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
        // Never full: at most maxIdle are counted, and who takes one out counts afterwards.
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
            } catch (Throwable e) { // close() throws nothing, not even this
                FailureLog.report("onError of the pool of " + name, e, failure);
                return;
            }
        }
        FailureLog.report("the pool of " + name + ":", what, failure);
    }

    /**
     * What it has done.
     *
     * @return its numbers now
     */
    public ObjectPoolMetrics metrics() {
        return new ObjectPoolMetrics(created.sum(), acquired.sum(), kept.get(), dropped.sum());
    }

    /**
     * Drops all idle objects; nothing can be acquired any more, and what comes back later is dropped. Objects that are out stay usable.
     * Idempotent, from any thread.
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
     * What a pool is to be like. Used by one thread; may open several pools.
     *
     * @param <T> the objects
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
         * What the objects are called in messages and {@code toString}. By default "objects".
         *
         * @param newName a plural
         * @return this
         */
        public Builder<T> name(String newName) {
            this.name = Objects.requireNonNull(newName, "name");
            return this;
        }

        /**
         * How many objects are made when the pool is opened. By default none.
         *
         * @param count 0 or more, at most {@link #maxIdle}
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
         * How many idle objects are kept; what comes back beyond that is dropped. By default 256. The pool has a slot for each.
         *
         * @param count 0, which keeps none, to 2<sup>24</sup>
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
         * Makes an object fit for its next user; run when it comes back.
         *
         * @param hook if it throws, the object is dropped
         * @return this
         */
        public Builder<T> reset(Consumer<? super T> hook) {
            this.reset = Objects.requireNonNull(hook, "reset");
            return this;
        }

        /**
         * Frees what an object holds; run once when the pool drops it.
         *
         * @param hook what it throws goes to {@link #onError}
         * @return this
         */
        public Builder<T> destroy(Consumer<? super T> hook) {
            this.destroy = Objects.requireNonNull(hook, "destroy");
            return this;
        }

        /**
         * Gets what the reset and the destroy hook throw. By default that is logged.
         *
         * @param hook what it throws itself is logged
         * @return this
         */
        public Builder<T> onError(Consumer<? super Throwable> hook) {
            this.onError = Objects.requireNonNull(hook, "onError");
            return this;
        }

        /**
         * Opens a pool and fills it.
         *
         * @return the pool
         * @throws IllegalArgumentException if the prefill is larger than what may be idle
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
                if (!filled) { // the factory threw: destroy what it made before
                    pool.close();
                }
            }
            return pool;
        }
    }
}
