package io.millrace.server.group;

import io.millrace.server.connection.StreamConnection;
import io.millrace.server.support.LimitAccess;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Limits the bytes in memory and the open files that wait on all connections of a server together. Above the limit, the
 * connection that holds most is closed, so a few peers that do not read cannot fill the heap.
 *
 * <p>Only waiting output counts, and only in whole grains (see {@code SendGate}), so a connection whose peer keeps up
 * never gets here. Bytes that several connections share, such as those of a broadcast, count for each of them.
 *
 * <p><b>Closed but not released.</b> A connection that was closed keeps its memory and files until its loop gets to it.
 * It is counted as released, so that others are not closed for what it holds. But if twice the budget is really in use,
 * some loop must be blocked, and then the connection that sends more is closed.
 */
final class SendBudget {
    private final long mostBytes;
    private final int mostFiles;
    private final Supplier<? extends Iterable<StreamConnection>> connections;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger files = new AtomicInteger();
    /** Held by connections that were closed, for this or another limit, and whose loops have not got to them yet. */
    private final AtomicLong releasingBytes = new AtomicLong();

    private final AtomicInteger releasingFiles = new AtomicInteger();

    private final AtomicBoolean looking = new AtomicBoolean();

    SendBudget(long mostBytes, int mostFiles, Supplier<? extends Iterable<StreamConnection>> connections) {
        this.mostBytes = mostBytes;
        this.mostFiles = mostFiles;
        this.connections = connections;
    }

    long bytes() {
        return bytes.get();
    }

    int files() {
        return files.get();
    }

    /** Adds to the bytes that wait on a connection; {@code change} may be negative. Any thread. */
    void chargeBytes(StreamConnection by, long change) {
        long held = bytes.addAndGet(change);
        if (change <= 0) {
            return;
        }
        if (held - mostBytes > mostBytes) {
            by.end(tooManyBytes(by));
        } else if (held - releasingBytes.get() > mostBytes) {
            endLargest(StreamConnection::heldBytes, this::tooManyBytes);
        }
    }

    /** Adds to the files that wait on a connection; {@code change} may be negative. Any thread. */
    void chargeFiles(StreamConnection by, int change) {
        int held = files.addAndGet(change);
        if (change <= 0) {
            return;
        }
        if (held - mostFiles > mostFiles) {
            by.end(tooManyFiles(by));
        } else if (held - releasingFiles.get() > mostFiles) {
            endLargest(StreamConnection::waitingFiles, this::tooManyFiles);
        }
    }

    private IOException tooManyBytes(StreamConnection victim) {
        return LimitAccess.closed("closed " + victim + ": it holds " + victim.heldBytes() + " of " + bytes
                + " bytes that wait for all connections, more than the budget of " + mostBytes
                + "; its peer does not read, so send less, or raise the budget or the heap");
    }

    private IOException tooManyFiles(StreamConnection victim) {
        return LimitAccess.closed("closed " + victim + ": it holds " + victim.waitingFiles() + " of " + files
                + " files that wait to be sent on all connections, more than the budget of " + mostFiles
                + "; its peer does not read, so send fewer, or raise the budget and the limit of open files");
    }

    /**
     * Only one thread searches at a time. The others find the budget respected afterwards, or search when they charge
     * again.
     */
    private void endLargest(ToLongFunction<StreamConnection> by, Function<StreamConnection, IOException> why) {
        if (!looking.compareAndSet(false, true)) {
            return;
        }
        try {
            StreamConnection largest = null;
            long most = 0;
            for (StreamConnection each : connections.get()) {
                long holds = each.isDoomed() ? 0 : by.applyAsLong(each);
                if (holds > most) {
                    most = holds;
                    largest = each;
                }
            }
            if (largest != null) {
                largest.end(why.apply(largest));
            }
        } finally {
            looking.set(false);
        }
    }

    /**
     * Counts what a connection holds as released: it was closed, and its loop will release it. Any thread, once.
     *
     * @return to be run when it has been released
     */
    Runnable willRelease(StreamConnection victim) {
        long heldBytes = victim.heldBytes();
        int heldFiles = victim.waitingFiles();
        releasingBytes.addAndGet(heldBytes);
        releasingFiles.addAndGet(heldFiles);
        return () -> {
            releasingBytes.addAndGet(-heldBytes);
            releasingFiles.addAndGet(-heldFiles);
        };
    }

    @Override
    public String toString() {
        return bytes + " of " + mostBytes + " bytes, " + files + " of " + mostFiles + " files";
    }
}
