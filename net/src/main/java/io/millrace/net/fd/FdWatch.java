package io.millrace.net.fd;

import io.millrace.net.family.FileChange;
import io.millrace.net.family.FileChange.Kind;
import io.millrace.net.family.WatchCalls;
import io.millrace.net.family.WatchedPath;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Inotify;
import io.millrace.sys.selector.HeldInput;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports changes from inotify, without a thread. Everything is guarded by this object's monitor; no call under it
 * waits.
 *
 * <p><b>Renames.</b> The kernel queues two records with a common cookie, the old name first, one right after the other.
 * The first one is held until the next one is seen: if that is its partner, it is a move; otherwise the old name is
 * simply gone. The kernel does not add the two under one lock, so a very quick reader can find the queue empty in
 * between; then it looks again a few times. If even that was too quick, the move is reported as DELETED and CREATED;
 * nothing is lost.
 *
 * <p><b>Masks only grow.</b> One directory may be watched under several paths and for several kinds; inotify knows it
 * once. Changes that are no longer asked for are read and dropped.
 */
final class FdWatch implements WatchCalls {
    private static final int MASK_ADD = 0x20000000;
    private static final int ITSELF = Inotify.DELETE_SELF | Inotify.MOVE_SELF;
    private static final int PARTNER_LOOKS = 64;

    /** A name that was moved away. */
    private record Departure(int watch, Path name, int cookie) {}

    private final Inotify inotify;
    private final Descriptor descriptor;
    /** Readable while inotify is, or while there are changes here that were not taken. */
    private final HeldInput input;

    private final KernelHandle handle;
    private final Map<Integer, List<WatchedPath>> byWatch = new HashMap<>();
    private final ArrayDeque<FileChange> translated = new ArrayDeque<>();
    private @Nullable Departure departure;

    private FdWatch(Inotify inotify, HeldInput input) {
        this.inotify = inotify;
        this.descriptor = inotify.descriptor();
        this.input = input;
        this.handle = new KernelHandle(input.descriptor());
    }

    static FdWatch open() throws ErrnoException {
        Inotify inotify = Inotify.open();
        boolean done = false;
        try {
            FdWatch watch = new FdWatch(inotify, HeldInput.over(inotify.descriptor()));
            done = true;
            return watch;
        } finally {
            if (!done) {
                inotify.descriptor().close();
            }
        }
    }

    @Override
    public SourceHandle handle() {
        return handle;
    }

    @Override
    public synchronized void watch(WatchedPath watched) throws IOException {
        FdUse.begin(descriptor);
        try {
            int watch = inotify.watch(watched.directory(), mask(watched) | MASK_ADD | Inotify.ONLY_DIRECTORY);
            forget(watched.path(), watch);
            byWatch.computeIfAbsent(watch, key -> new ArrayList<>()).add(watched);
        } catch (ErrnoException e) {
            throw refused(watched.path(), e);
        } finally {
            descriptor.release();
        }
    }

    private static int mask(WatchedPath watched) {
        int mask = ITSELF;
        for (Kind kind : watched.kinds()) {
            mask |= switch (kind) {
                case CREATED -> Inotify.CREATE | Inotify.MOVED_TO;
                case MODIFIED -> Inotify.MODIFY | Inotify.ATTRIB;
                case DELETED -> Inotify.DELETE | Inotify.MOVED_FROM;
                case MOVED -> Inotify.MOVED_FROM | Inotify.MOVED_TO;
                case OVERFLOW -> 0;
            };
        }
        return mask;
    }

    private static IOException refused(Path path, ErrnoException cause) {
        if (cause.is(Errno.EACCES)) {
            IOException denied = new AccessDeniedException(path.toString());
            denied.initCause(cause);
            return denied;
        }
        String reason = cause.is(Errno.ENOSPC)
                ? "this user watches as many directories as the system allows; raise fs.inotify.max_user_watches"
                : "cannot watch it: " + cause.getMessage();
        IOException failure = new FileSystemException(path.toString(), null, reason);
        failure.initCause(cause);
        return failure;
    }

    @Override
    public synchronized boolean unwatch(Path path) {
        if (!descriptor.acquire()) {
            return false;
        }
        try {
            return forget(path, -1);
        } finally {
            descriptor.release();
        }
    }

    /** Stops watching what is no longer asked for, except what is about to be used. */
    private boolean forget(Path path, int kept) {
        boolean found = false;
        for (Iterator<Map.Entry<Integer, List<WatchedPath>>> entries =
                        byWatch.entrySet().iterator();
                entries.hasNext(); ) {
            Map.Entry<Integer, List<WatchedPath>> entry = entries.next();
            found |= entry.getValue().removeIf(watched -> watched.path().equals(path));
            if (entry.getValue().isEmpty() && entry.getKey() != kept) {
                inotify.unwatch(entry.getKey());
                entries.remove();
            }
        }
        return found;
    }

    @Override
    public synchronized @Nullable FileChange poll() throws IOException {
        FdUse.begin(descriptor);
        try {
            FileChange next = translated.poll();
            while (next == null) {
                if (advance()) {
                    translate();
                } else if (departure != null) {
                    depart();
                } else {
                    input.hold(false);
                    handle.markDrained(Bits.READABLE);
                    return null;
                }
                next = translated.poll();
            }
            input.hold(!translated.isEmpty() || departure != null || inotify.hasRead());
            return next;
        } finally {
            descriptor.release();
        }
    }

    /** Moves to the next record; looks again if the partner of a rename is expected. */
    private boolean advance() throws IOException {
        for (int looks = departure == null ? 1 : PARTNER_LOOKS; looks > 0; looks--) {
            if (inotify.advance()) {
                return true;
            }
        }
        return false;
    }

    private void translate() {
        int mask = inotify.mask();
        Path name = inotify.name();
        int watch = inotify.watch();
        Departure before = departure;
        if (before != null && name != null && (mask & Inotify.MOVED_TO) != 0 && before.cookie() == inotify.cookie()) {
            departure = null;
            reportMove(before, watch, name);
            return;
        }
        depart();
        if ((mask & Inotify.OVERFLOW) != 0) {
            translated.add(FileChange.overflow());
        } else if ((mask & (ITSELF | Inotify.UNMOUNT | Inotify.IGNORED)) != 0) {
            endWatch(watch, mask);
        } else if (name != null) {
            if ((mask & Inotify.MOVED_FROM) != 0) {
                departure = new Departure(watch, name, inotify.cookie());
            } else {
                report(watch, name, kind(mask));
            }
        }
    }

    private static Kind kind(int mask) {
        if ((mask & (Inotify.CREATE | Inotify.MOVED_TO)) != 0) {
            return Kind.CREATED;
        }
        return (mask & Inotify.DELETE) != 0 ? Kind.DELETED : Kind.MODIFIED;
    }

    /** The name that was held went to a place that is not watched. */
    private void depart() {
        Departure gone = departure;
        if (gone != null) {
            departure = null;
            report(gone.watch(), gone.name(), Kind.DELETED);
        }
    }

    /** Reports once for each path, even if it is watched both by itself and with its directory. */
    private void report(int watch, Path name, Kind kind) {
        report(watch, name, kind, false);
    }

    /** The same, to all watches or only to those that do not ask for moves. */
    private void report(int watch, Path name, Kind kind, boolean movesAreTold) {
        Path last = null;
        for (WatchedPath watched : watchedBy(watch)) {
            if (watched.covers(name) && watched.wants(kind) && !(movesAreTold && watched.wants(Kind.MOVED))) {
                Path path = watched.pathOf(name);
                if (!path.equals(last)) {
                    translated.add(FileChange.of(kind, path));
                    last = path;
                }
            }
        }
    }

    /** Reports a move to watches that see both ends of it and ask for moves; to the others, what it is at their end. */
    private void reportMove(Departure from, int watch, Path name) {
        WatchedPath origin = null;
        for (WatchedPath watched : watchedBy(from.watch())) {
            if (watched.covers(from.name()) && watched.wants(Kind.MOVED)) {
                origin = watched;
                break;
            }
        }
        if (origin != null) {
            for (WatchedPath watched : watchedBy(watch)) {
                if (watched.covers(name) && watched.wants(Kind.MOVED)) {
                    translated.add(FileChange.moved(origin.pathOf(from.name()), watched.pathOf(name)));
                    report(from.watch(), from.name(), Kind.DELETED, true);
                    report(watch, name, Kind.CREATED, true);
                    return;
                }
            }
        }
        report(from.watch(), from.name(), Kind.DELETED);
        report(watch, name, Kind.CREATED);
    }

    /**
     * Ends a watch, because the directory no longer exists, or no longer under that name, so that nothing it reports
     * would be right.
     */
    private void endWatch(int watch, int mask) {
        List<WatchedPath> list = byWatch.remove(watch);
        if (list == null) {
            return; // already reported, or no longer watched
        }
        if ((mask & Inotify.MOVE_SELF) != 0) {
            inotify.unwatch(watch);
        }
        for (WatchedPath watched : list) {
            if (watched.wants(Kind.DELETED)) {
                translated.add(FileChange.of(Kind.DELETED, watched.path()));
            }
        }
    }

    private List<WatchedPath> watchedBy(int watch) {
        return byWatch.getOrDefault(watch, List.of());
    }

    @Override
    public void close() {
        handle.close();
        descriptor.close();
        synchronized (this) {
            // After a call in progress; a later one finds the descriptor closed.
            input.close();
        }
    }

    @Override
    public String toString() {
        return "inotify, " + descriptor;
    }
}
