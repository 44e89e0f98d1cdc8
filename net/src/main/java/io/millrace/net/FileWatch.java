package io.millrace.net;

import io.millrace.net.FileEvent.Kind;
import io.millrace.net.family.FileChange;
import io.millrace.net.family.WatchCalls;
import io.millrace.net.family.WatchedPath;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reports changes of files and directories. Readable while there is a change to take.
 *
 * {@snippet :
 * FileWatch watch = FileWatch.open();
 * watch.watch(Path.of("config.json"));
 * poll.register(watch, 1, Interest.READABLE, Trigger.EDGE);
 * // when token 1 is readable:
 * for (FileEvent event = watch.poll(); event != null; event = watch.poll()) { reload(event); }
 * }
 *
 * <p><b>What is watched.</b> For a directory, its entries, but not theirs: it is not recursive. A file is watched by
 * its name: it is reported when it is created, replaced by a rename, or deleted. It need not exist yet, but its
 * directory must. A directory that is deleted or moved away ends its watch with a last DELETED of the watched path; if
 * it is created again, it has to be watched again.
 *
 * <p><b>Hints, not a journal.</b> Several changes may be one event, and the file may have changed again when the event is read. When more
 * happens than the system keeps, {@link Kind#OVERFLOW} says so.
 *
 * <p><b>Edges.</b> After an {@link io.millrace.poll.Trigger#EDGE} event, call {@link #poll} until it returns null: one
 * edge may stand for several changes.
 *
 * <p><b>Threads.</b> Any thread may call any method. A call that reads, or that changes the list of paths, may wait for
 * another such call, but never for a change.
 *
 * <h2>Portability</h2>
 * inotify on Linux, without a thread. Elsewhere, and from {@link Net#nio()}, the JDK's watch service with a daemon
 * thread of ours that waits for it. There, a rename within the watched paths is reported as DELETED and CREATED; a
 * watch for MOVED alone also gets these, and every other DELETED and CREATED as well. If the system has no such
 * service, a report may take seconds. Network file systems report what this machine does, not what others do.
 */
public final class FileWatch implements Source, AutoCloseable {
    private static final Set<FileChange.Kind> ALL = Collections.unmodifiableSet(EnumSet.allOf(FileChange.Kind.class));

    private final WatchCalls calls;
    private final LeakTracker leak;

    FileWatch(WatchCalls calls) {
        this.calls = calls;
        this.leak = LeakTracker.track(this, "FileWatch by", calls, calls::close);
    }

    /**
     * Opens a watch of the default family that watches nothing yet: {@link Net#fileWatch} of {@link Net#standard()}.
     *
     * @return a watch, which the caller must close
     * @throws IOException if the system refuses, for example because too many files or watches are open
     */
    public static FileWatch open() throws IOException {
        return Net.standard().fileWatch();
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Watches a path. If it is already watched, the kinds are replaced.
     *
     * @param path a path of the default file system: a directory, or a file in an existing directory; events contain
     *     it, or it with an entry
     * @param kinds what to report; none means all
     * @throws java.nio.file.NoSuchFileException if neither the path nor its directory exists
     * @throws java.nio.channels.ClosedChannelException if this watch is closed
     * @throws IOException if the system refuses, for example because too much is being watched
     */
    public void watch(Path path, Kind... kinds) throws IOException {
        Set<FileChange.Kind> wanted = EnumSet.noneOf(FileChange.Kind.class);
        for (Kind kind : kinds) {
            wanted.add(kind.change);
        }
        try {
            calls.watch(WatchedPath.of(path, wanted.isEmpty() ? ALL : wanted));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Stops watching a path. Earlier changes that were not taken yet may still be reported.
     *
     * @param path as it was given to {@link #watch}
     * @return false if it was not watched, or no longer is because its directory is gone
     */
    public boolean unwatch(Path path) {
        try {
            return calls.unwatch(path);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes the next change, without waiting for one.
     *
     * @return the change, or null if there is none
     * @throws java.nio.channels.ClosedChannelException if this watch is closed
     * @throws IOException if the system refuses
     */
    public @Nullable FileEvent poll() throws IOException {
        try {
            FileChange change = calls.poll();
            return change == null ? null : FileEvent.of(change);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Stops watching and deregisters. Idempotent; any thread may call it. */
    @Override
    public void close() {
        leak.forget();
        calls.close();
    }

    @Override
    public String toString() {
        return "FileWatch by " + calls;
    }
}
