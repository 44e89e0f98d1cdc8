package io.millrace.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What may wait for all connections of a server together: bytes in memory, and open files. Above it the connection that holds most is ended; so a few peers that do not read cannot
 * fill the heap for all.
 *
 * <p>Only what waits is counted, and of it only whole grains (see {@link SendGate}): a connection whose peer keeps up never comes here. Bytes that several connections share,
 * as those of a broadcast, are counted for each of them.
 *
 * <p><b>Until its loop has turned</b> a connection that was ended still holds its memory and its files. It is counted as released, so that one victim does not draw others after it; but
 * if twice the budget is really held, a loop must be blocked, and whoever sends more is ended instead.
 */
final class SendBudget {
    static final int MOST_FILES = 1024;
    private static final Pattern OPEN_FILES = Pattern.compile("(?m)^Max open files\\s+(\\d+)");

    private final long mostBytes;
    private final int mostFiles;
    private final Supplier<? extends Iterable<StreamConnection>> connections;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger files = new AtomicInteger();
    /** Held by connections that were ended, for this or another limit, and whose loops have not turned since. */
    private final AtomicLong releasingBytes = new AtomicLong();

    private final AtomicInteger releasingFiles = new AtomicInteger();

    private final AtomicBoolean looking = new AtomicBoolean();

    SendBudget(long mostBytes, int mostFiles, Supplier<? extends Iterable<StreamConnection>> connections) {
        this.mostBytes = mostBytes;
        this.mostFiles = mostFiles;
        this.connections = connections;
    }

    /** A quarter of the heap. */
    static long defaultBytes() {
        return Math.max(1, Runtime.getRuntime().maxMemory() / 4);
    }

    /** A quarter of what the process may have open, and no more than {@link #MOST_FILES}. */
    static int defaultFiles() {
        return Limits.FILES;
    }

    private static final class Limits {
        static final int FILES = read();

        private static int read() {
            try {
                Matcher matcher = OPEN_FILES.matcher(Files.readString(Path.of("/proc/self/limits")));
                if (matcher.find()) {
                    return Math.clamp(Long.parseLong(matcher.group(1)) / 4, 1, MOST_FILES);
                }
            } catch (IOException | RuntimeException e) {
                // Not Linux: the system's usual limit is 256 or more.
            }
            return 64;
        }
    }

    long bytes() {
        return bytes.get();
    }

    int files() {
        return files.get();
    }

    /** So many bytes more wait for a connection, or fewer. Any thread. */
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

    /** So many files more wait for a connection, or fewer. Any thread. */
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
        return new LimitException("closed " + victim + ": it holds " + victim.heldBytes() + " of " + bytes
                + " bytes that wait for all connections, more than the budget of " + mostBytes
                + "; its peer does not read, so send less, or raise the budget or the heap");
    }

    private IOException tooManyFiles(StreamConnection victim) {
        return new LimitException("closed " + victim + ": it holds " + victim.waitingFiles() + " of " + files
                + " files that wait to be sent on all connections, more than the budget of " + mostFiles
                + "; its peer does not read, so send fewer, or raise the budget and the limit of open files");
    }

    /** One thread looks at a time: the others find the budget kept when they come back, or look then. */
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
     * A connection was ended, and will release what it holds when its loop comes to it. Any thread, once.
     *
     * @return to be run when it has
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
