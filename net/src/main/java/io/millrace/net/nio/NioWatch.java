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
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Changes from the JDK's watch service, which can only be waited for: a thread of ours does, and hands what it gets to a channel.
 *
 * <p>The map is guarded by its own monitor. Whoever reads too slowly loses events, and is told.
 */
final class NioWatch implements WatchCalls {
    private static final int CAPACITY = 16_384;

    private final WatchService service;
    private final Channel<FileChange> events;
    private final AtomicBoolean overflowed = new AtomicBoolean();
    private final Map<WatchKey, List<WatchedPath>> byKey = new HashMap<>();
    private volatile boolean closed;

    NioWatch(WatchService service) {
        this(service, CAPACITY);
    }

    /** With room for so many changes that nobody has taken. */
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
                }
                if (!key.reset()) {
                    ended(key);
                }
            }
        } catch (ClosedWatchServiceException e) {
            assert closed : "nobody else has the service";
        } catch (InterruptedException e) {
            close(); // nobody of ours interrupts: whoever does wants it to end
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
            if (each.covers(name) && each.wants(kind)) {
                Path path = each.pathOf(name);
                if (!path.equals(last)) {
                    send(FileChange.of(kind, path));
                    last = path;
                }
            }
        }
    }

    private void send(FileChange event) {
        if (events.send(event) instanceof Offered.Full) {
            tellOfOverflow();
        }
    }

    /**
     * That something was lost is an event itself, so that the channel is readable for it. If there is no room, whoever takes the next event makes some, and
     * sends it: the flag was set before the channel was found full, so a taker that comes later sees it.
     */
    private void tellOfOverflow() {
        overflowed.set(true);
        if (events.send(FileChange.overflow()).isSent()) {
            overflowed.set(false);
        }
    }

    /** Whether changes were lost and nobody was told yet. */
    boolean isOverflowed() {
        return overflowed.get();
    }

    private void ended(WatchKey key) {
        List<WatchedPath> list;
        synchronized (byKey) {
            list = byKey.remove(key);
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
        // Under the monitor: an event that comes at once finds its path.
        synchronized (byKey) {
            requireOpen();
            WatchKey key;
            try {
                key = watched.directory()
                        .register(
                                service,
                                StandardWatchEventKinds.ENTRY_CREATE,
                                StandardWatchEventKinds.ENTRY_DELETE,
                                StandardWatchEventKinds.ENTRY_MODIFY);
            } catch (ClosedWatchServiceException e) {
                throw new ClosedChannelException();
            }
            forget(watched.path(), key);
            byKey.computeIfAbsent(key, ignored -> new ArrayList<>()).add(watched);
        }
    }

    @Override
    public boolean unwatch(Path path) {
        synchronized (byKey) {
            return !closed && forget(path, null);
        }
    }

    /** What nobody asks for any longer is cancelled, save the key that is about to be used. Under the monitor. */
    private boolean forget(Path path, @Nullable WatchKey kept) {
        boolean found = false;
        for (Iterator<Map.Entry<WatchKey, List<WatchedPath>>> entries =
                        byKey.entrySet().iterator();
                entries.hasNext(); ) {
            Map.Entry<WatchKey, List<WatchedPath>> entry = entries.next();
            found |= entry.getValue().removeIf(watched -> watched.path().equals(path));
            if (entry.getValue().isEmpty() && !entry.getKey().equals(kept)) {
                entry.getKey().cancel();
                entries.remove();
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
