package io.millrace.net.nio;

import io.millrace.net.family.FileChange;
import io.millrace.net.family.FileChange.Kind;
import io.millrace.net.family.WatchCalls;
import io.millrace.net.family.WatchedPath;
import io.millrace.poll.Channel;
import io.millrace.poll.Offered;
import io.millrace.poll.SourceHandle;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.ClosedChannelException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reports changes from the JDK's watch service, which can only be waited for: a thread of ours waits, and passes what
 * it gets to a channel.
 *
 * <p><b>A directory that is moved away.</b> The service continues to watch it, and reports what happens in it as if it
 * were still in its old place. So its parent directory is watched, too: when an entry disappears from there that is a
 * watched directory, and that name no longer leads to this directory, its watch ends.
 *
 * <p>The maps are guarded by the monitor of the first one. A reader that is too slow loses events, which is reported.
 */
final class NioWatch implements WatchCalls {
    private static final int CAPACITY = 16_384;

    private final WatchService service;
    private final Channel<FileChange> events;
    private final AtomicBoolean overflowed = new AtomicBoolean();
    private final Map<WatchKey, List<WatchedPath>> byKey = new HashMap<>();
    /** For a directory, those of its entries that are watched directories. */
    private final Map<WatchKey, Map<Path, Guarded>> above = new HashMap<>();

    private volatile boolean closed;

    /** A watched directory, and what distinguishes it from another one with the same name. */
    private record Guarded(
            WatchKey key, Path place, @Nullable Object identity) {
        boolean isInPlace() {
            try {
                return Objects.equals(identityOf(place), identity);
            } catch (IOException e) {
                return false;
            }
        }

        static @Nullable Object identityOf(Path directory) throws IOException {
            return Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
        }
    }

    NioWatch(WatchService service) {
        this(service, CAPACITY);
    }

    /** Creates a watch with room for {@code capacity} changes that were not taken. */
    NioWatch(WatchService service, int capacity) {
        this.service = service;
        this.events = Channel.bounded(capacity);
    }

    void start() {
        Thread.ofPlatform().daemon().name("millrace-file-watch").start(this::run);
    }

    private void run() {
        try {
            for (; ; ) {
                WatchKey key = service.take();
                List<WatchedPath> watched = watchedBy(key);
                for (WatchEvent<?> event : key.pollEvents()) {
                    translate(event, watched);
                    if (event.kind().equals(StandardWatchEventKinds.ENTRY_DELETE)) {
                        endIfGone(key, event.context());
                    }
                }
                if (!key.reset()) {
                    endWatch(key);
                }
            }
        } catch (ClosedWatchServiceException e) {
            assert closed : "nobody else has the service";
        } catch (InterruptedException e) {
            close(); // an interrupt does not come from us: it means that this should end
        }
    }

    private void translate(WatchEvent<?> event, List<WatchedPath> watched) {
        if (!(event.context() instanceof Path name)) {
            send(FileChange.overflow());
            return;
        }
        Kind kind = event.kind().equals(StandardWatchEventKinds.ENTRY_CREATE)
                ? Kind.CREATED
                : event.kind().equals(StandardWatchEventKinds.ENTRY_DELETE) ? Kind.DELETED : Kind.MODIFIED;
        Path last = null;
        for (WatchedPath each : watched) {
            if (each.covers(name) && wants(each, kind)) {
                Path path = each.pathOf(name);
                if (!path.equals(last)) {
                    send(FileChange.of(kind, path));
                    last = path;
                }
            }
        }
    }

    /** The service does not report moves, only what happens at either end. */
    private static boolean wants(WatchedPath watched, Kind kind) {
        return watched.wants(kind) || (kind != Kind.MODIFIED && watched.wants(Kind.MOVED));
    }

    /** Ends the watch of a directory whose name is gone from its parent directory. */
    private void endIfGone(WatchKey directory, @Nullable Object name) {
        Guarded gone;
        synchronized (byKey) {
            gone = above.getOrDefault(directory, Map.of()).get(name);
        }
        if (gone != null && !gone.isInPlace()) {
            List<WatchedPath> watched = watchedBy(gone.key());
            for (WatchEvent<?> event : gone.key().pollEvents()) {
                translate(event, watched); // what happened before
            }
            endWatch(gone.key());
        }
    }

    private void send(FileChange event) {
        if (events.send(event) instanceof Offered.Full) {
            tellOfOverflow();
        }
    }

    /**
     * Reports a loss as an event, so that the channel becomes readable. If there is no room, the thread that takes the
     * next event makes room and sends it: the flag was set before the channel was found full, so it sees the flag.
     */
    private void tellOfOverflow() {
        overflowed.set(true);
        if (events.send(FileChange.overflow()).isSent()) {
            overflowed.set(false);
        }
    }

    /** Returns whether changes were lost and this was not reported yet. */
    boolean isOverflowed() {
        return overflowed.get();
    }

    private void endWatch(WatchKey key) {
        List<WatchedPath> list;
        synchronized (byKey) {
            list = byKey.remove(key);
            above.remove(key);
            release(key, null);
        }
        if (list != null) {
            for (WatchedPath watched : list) {
                if (watched.wants(Kind.DELETED)) {
                    send(FileChange.of(Kind.DELETED, watched.path()));
                }
            }
        }
    }

    private List<WatchedPath> watchedBy(WatchKey key) {
        synchronized (byKey) {
            return List.copyOf(byKey.getOrDefault(key, List.of()));
        }
    }

    @Override
    public SourceHandle handle() {
        return events.handle();
    }

    @Override
    public void watch(WatchedPath watched) throws IOException {
        // Under the monitor, so that an event that comes at once finds its path.
        synchronized (byKey) {
            requireOpen();
            WatchKey key;
            try {
                key = register(watched.directory());
            } catch (ClosedWatchServiceException e) {
                throw new ClosedChannelException();
            }
            forget(watched.path(), key);
            byKey.computeIfAbsent(key, ignored -> new ArrayList<>()).add(watched);
            guard(key, watched.directory());
        }
    }

    /** Always for all kinds: a directory has only one key, and the kinds of the last registration count. */
    private WatchKey register(Path directory) throws IOException {
        return directory.register(
                service,
                StandardWatchEventKinds.ENTRY_CREATE,
                StandardWatchEventKinds.ENTRY_DELETE,
                StandardWatchEventKinds.ENTRY_MODIFY);
    }

    /** Called under the monitor. */
    private void guard(WatchKey key, Path directory) {
        try {
            Path place = directory.toRealPath();
            Path parent = place.getParent();
            if (parent != null) {
                Object identity = Guarded.identityOf(place);
                above.computeIfAbsent(register(parent), ignored -> new HashMap<>())
                        .put(place.getFileName(), new Guarded(key, place, identity));
            }
        } catch (IOException | ClosedWatchServiceException e) {
            // The parent directory cannot be read. Then nothing reports that this one is moved away.
        }
    }

    /**
     * Cancels a key that is not used any more, and the keys of parent directories that existed only for it; except one
     * that is about to be used. Called under the monitor.
     */
    private void release(WatchKey key, @Nullable WatchKey kept) {
        above.values()
                .forEach(below ->
                        below.values().removeIf(guarded -> guarded.key().equals(key)));
        above.entrySet().removeIf(entry -> {
            boolean unused = entry.getValue().isEmpty();
            if (unused && !byKey.containsKey(entry.getKey()) && !entry.getKey().equals(kept)) {
                entry.getKey().cancel();
            }
            return unused;
        });
        if (!above.containsKey(key)) {
            key.cancel();
        }
    }

    @Override
    public boolean unwatch(Path path) {
        synchronized (byKey) {
            return !closed && forget(path, null);
        }
    }

    /** Cancels what is no longer asked for, except the key that is about to be used. Called under the monitor. */
    private boolean forget(Path path, @Nullable WatchKey kept) {
        boolean found = false;
        for (Iterator<Map.Entry<WatchKey, List<WatchedPath>>> entries =
                        byKey.entrySet().iterator();
                entries.hasNext(); ) {
            Map.Entry<WatchKey, List<WatchedPath>> entry = entries.next();
            found |= entry.getValue().removeIf(watched -> watched.path().equals(path));
            if (entry.getValue().isEmpty() && !entry.getKey().equals(kept)) {
                entries.remove();
                release(entry.getKey(), kept);
            }
        }
        return found;
    }

    @Override
    public @Nullable FileChange poll() throws IOException {
        requireOpen();
        FileChange next = events.poll();
        if (next != null && overflowed.get()) {
            tellOfOverflow();
        }
        return next;
    }

    private void requireOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public void close() {
        closed = true;
        events.close();
        try {
            service.close();
        } catch (IOException e) {
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "closing a watch service", e);
        }
    }

    @Override
    public String toString() {
        return "the JDK's watch service" + (closed ? ", closed" : "");
    }
}
