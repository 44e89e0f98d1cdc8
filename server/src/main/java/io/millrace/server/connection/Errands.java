package io.millrace.server.connection;

import io.millrace.server.Connection;
import io.millrace.server.WriteCallback;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What a connection has promised to call exactly once for other threads, before {@code onDisconnect}: tasks, and
 * callbacks of writes.
 *
 * <p>An errand is added here, and then handed over to the connection's thread, which takes it and runs it. The end of
 * the connection closes this, takes all that are left and runs them before its last callback. Each errand is taken
 * once. A thread that adds an errand reads {@code closed} afterwards; the end sets {@code closed} and reads the errands
 * afterwards. So one of the two takes a late errand, and if it is the thread, the errand is refused.
 */
final class Errands {
    /** The errands of connections that have ended. */
    static final Errands ENDED = new Errands();

    static {
        ENDED.closed = true;
    }

    /** A task or a callback of a write. */
    abstract static class Errand {
        private static final VarHandle TAKEN;

        static {
            try {
                TAKEN = MethodHandles.lookup().findVarHandle(Errand.class, "taken", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("UnusedVariable") // accessed through TAKEN
        private volatile boolean taken;

        private long number;

        /** Returns true to the first caller, which must run it or refuse it. Any thread. */
        final boolean take() {
            return TAKEN.compareAndSet(this, false, true);
        }

        /**
         * Runs it on the connection's thread. Called by the code that has taken it.
         *
         * @param ended why it did not get what it waited for; null if it did
         */
        abstract void run(Connection connection, @Nullable IOException ended) throws Exception;
    }

    /** A task of {@link Connection#execute}, which waits for nothing. */
    static final class Task extends Errand {
        private final Runnable task;

        Task(Runnable task) {
            this.task = task;
        }

        @Override
        void run(Connection connection, @Nullable IOException ended) {
            task.run();
        }
    }

    /** Waits until everything up to some byte was taken by the system. */
    static final class Written extends Errand {
        private final WriteCallback callback;
        /** How many bytes the connection will have sent by then. Used on the loop, once it has arrived there. */
        long position;

        Written(WriteCallback callback) {
            this.callback = callback;
        }

        @Override
        void run(Connection connection, @Nullable IOException ended) throws Exception {
            callback.onWritten(connection, ended);
        }
    }

    private final Set<Errand> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong added = new AtomicLong();
    private volatile boolean closed;

    /** Adds an errand. Returns false if it is refused, because the connection has ended. Any thread. */
    boolean add(Errand errand) {
        errand.number = added.incrementAndGet();
        open.add(errand);
        if (closed && errand.take()) {
            open.remove(errand);
            return false;
        }
        return true;
    }

    /** Removes an errand after it was taken. Any thread. */
    void remove(Errand errand) {
        open.remove(errand);
    }

    /** Refuses further errands, and takes all that are left, in the order in which they were added. */
    List<Errand> close() {
        closed = true;
        List<Errand> left = new ArrayList<>();
        for (Errand errand : open) {
            if (errand.take()) {
                left.add(errand);
            }
        }
        open.clear();
        left.sort(Comparator.comparingLong(errand -> errand.number));
        return left;
    }
}
