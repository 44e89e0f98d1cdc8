package io.millrace.cli.redis;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.EventManager;
import io.millrace.engine.Priority;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits how long a client may take for one command. A client that sends a byte now and then is never idle; without
 * this limit it could keep its connection, and memory for what it sent, for ever.
 *
 * <p>A command may take {@code limit}, and longer as more of it arrives, because a large value may come over a slow
 * line. One alarm is enough for all commands of a client: when it fires, it computes how late the current command is,
 * so a command that arrives in pieces only costs a store.
 *
 * <p>Called by the client's callbacks, and by the alarm on another thread; hence the lock.
 */
final class CommandLimit {
    /** A client that sends this many bytes per second may continue. */
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
     * Part of a command has arrived, and the rest is missing.
     *
     * @param bytes how much of it has arrived
     * @param isNew whether it is another command than at the last call
     */
    synchronized void startOrContinue(int bytes, boolean isNew) {
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

    /** No command is incomplete. */
    synchronized void finish() {
        unfinished = false;
    }

    /** The client has disconnected. */
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
        peer.abort(); // such a client may not read replies either, and close would wait for that
    }
}
