package io.millrace.cli.redis;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.EventManager;
import io.millrace.engine.Priority;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long a client may take for one command. Who sends a byte now and then is never idle; without this limit it would keep its connection, and what came so far, for ever.
 *
 * <p>A command may take {@code limit}, and longer as more of it comes: a large value over a slow line is nobody's fault. One alarm is enough for all commands of a client: it looks how late the present one is, so
 * a command that comes in pieces costs a store.
 *
 * <p>Called by the client's callbacks, and by the alarm on a thread of its own: hence the lock.
 */
final class CommandLimit {
    /** Who sends so many bytes in a second may go on. */
    static final int BYTES_PER_SECOND = 16 << 10;

    private static final System.Logger LOG = System.getLogger("io.millrace");

    private final EventManager manager;
    private final long limitNanos;
    private final Peer peer;

    private boolean unfinished;
    private boolean over;
    private long since;
    private long allowed;
    private @Nullable AlarmKey alarm;

    CommandLimit(EventManager manager, long limitNanos, Peer peer) {
        this.manager = manager;
        this.limitNanos = limitNanos;
        this.peer = peer;
    }

    /**
     * Some of a command is there, and it waits for the rest.
     *
     * @param bytes how much of it has come
     * @param isNew whether it is another one than at the last call
     */
    synchronized void unfinished(int bytes, boolean isNew) {
        if (over) {
            return;
        }
        if (isNew || !unfinished) {
            unfinished = true;
            since = manager.clock().nanoTime();
        }
        allowed = limitNanos + bytes * TimeUnit.SECONDS.toNanos(1) / BYTES_PER_SECOND;
        if (alarm == null) {
            watch(limitNanos);
        }
    }

    /** There is nothing to wait for. */
    synchronized void finished() {
        unfinished = false;
    }

    /** The client is gone. */
    synchronized void end() {
        over = true;
        unfinished = false;
        if (alarm != null) {
            manager.cancel(alarm);
            alarm = null;
        }
    }

    private void watch(long nanos) {
        alarm = manager.schedule(
                manager.clock().nanoTime() + nanos,
                fired -> {
                    if (fired) {
                        look();
                    }
                },
                Priority.NORMAL);
    }

    private void look() {
        synchronized (this) {
            alarm = null;
            if (!unfinished || over) {
                return;
            }
            long left = allowed - (manager.clock().nanoTime() - since);
            if (left > 0) {
                watch(left);
                return;
            }
            over = true;
        }
        LOG.log(System.Logger.Level.DEBUG, "closing {0}: its command takes too long", peer);
        peer.abort(); // who does not finish its command may not take replies either, and close would wait for that
    }
}
