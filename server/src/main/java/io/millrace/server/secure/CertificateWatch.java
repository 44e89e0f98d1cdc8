package io.millrace.server.secure;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.internal.FailureLog;
import io.millrace.net.FileEvent;
import io.millrace.net.FileWatch;
import io.millrace.net.Net;
import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Reloads certificates when their files change: see {@link io.millrace.server.tls.TlsWatch}.
 *
 * <p>What is watched are directories: that of each file and, if a part of its path is a symbolic link, that of each link
 * on the way, because links are what is replaced in practice (Kubernetes swaps the link to a whole directory). An event
 * is only a hint: what counts is whether the contents have changed since they were last tried.
 *
 * <p>All work is done by one virtual thread at a time. A change that is reported meanwhile has it look once more.
 */
public final class CertificateWatch implements AutoCloseable {
    private static final Object LOOK = "a look at certificates";
    private static final System.Logger LOGGER = System.getLogger("io.millrace.server");

    /** How long a change may go on before it is looked at: a file is often written in several steps. */
    static final Duration SETTLE = Duration.ofMillis(100);

    /** How long, and how often, files that cannot be used are tried again before that is reported. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    static final Duration RETRY = Duration.ofMillis(250);
    static final Duration ROUTINE = Duration.ofHours(1);
    static final Duration WARNED_BEFORE = Duration.ofDays(14);
    private static final Duration WARNED_EVERY = Duration.ofDays(1);

    /** More links than that on the way to a file are a loop. */
    private static final int MOST_LINKS = 40;

    private final Tls tls;
    private final Reactors on;
    private final FileWatch watch;
    private final ReadinessDescriptor changes;

    /** Guarded by this, as are the following. */
    private boolean closed;

    private boolean working;
    private boolean again;
    private boolean forced;
    private boolean wanted;
    private @Nullable AlarmKey settling;
    private @Nullable AlarmKey routine;
    private @Nullable Long failingSince;
    private @Nullable String failing;
    private @Nullable Instant warned;
    private long reloads;

    /** Used by the one that works; the directories also by the loop, which sees a set that never changes. */
    private String used;

    private @Nullable String complainedAbout;
    private volatile Set<Path> directories = Set.of();
    private volatile Set<Path> names = Set.of();
    private volatile @Nullable IOException failure;

    private CertificateWatch(Tls tls, Reactors on, FileWatch watch) throws IOException {
        this.tls = tls;
        this.on = on;
        this.watch = watch;
        watchAll();
        // Before they are registered, so that no change between the two is missed.
        this.used = contents();
        this.changes = on.register(watch);
    }

    public static CertificateWatch start(Tls tls, Reactors on) throws IOException {
        FileWatch opened = (on.report().chosen().equals("nio") ? Net.nio() : Net.standard()).fileWatch();
        boolean started = false;
        try {
            CertificateWatch made = new CertificateWatch(tls, on, opened);
            made.listen();
            made.lookRoutinely();
            // The files may have changed since they were read for the settings; and they may expire soon.
            made.look(true, false);
            started = true;
            return made;
        } finally {
            if (!started) {
                opened.close();
            }
        }
    }

    // ---- What brings a look about ----

    private void listen() {
        try {
            changes.notifyWhenReadable(this::onChanges);
        } catch (IllegalStateException e) {
            // It is closed.
        }
    }

    /** On the loop. */
    private void onChanges() {
        boolean ours = false;
        try {
            for (FileEvent event = watch.poll(); event != null; event = watch.poll()) {
                ours |= concerns(event);
            }
        } catch (IOException e) {
            ours = true;
        }
        synchronized (this) {
            if (closed) {
                return;
            }
            if (ours && settling == null) {
                settling = schedule(SETTLE, this::onSettled);
            }
        }
        listen();
    }

    private boolean concerns(FileEvent event) {
        Path path = event.path();
        Path from = event.from();
        return path == null
                || names.contains(path)
                || directories.contains(path)
                || (from != null && names.contains(from));
    }

    private synchronized @Nullable AlarmKey schedule(Duration delay, Runnable what) {
        try {
            return on.schedule(
                    delay,
                    fired -> {
                        if (fired) {
                            what.run();
                        }
                    },
                    Priority.LOW);
        } catch (RejectedExecutionException e) {
            return null; // its manager has ended
        }
    }

    private void onSettled() {
        synchronized (this) {
            settling = null;
        }
        look(false, false);
    }

    private void lookRoutinely() {
        synchronized (this) {
            if (!closed) {
                routine = schedule(ROUTINE, () -> {
                    look(false, false);
                    lookRoutinely();
                });
            }
        }
    }

    public void reload() {
        look(true, true);
    }

    /**
     * Has the files looked at. Any thread.
     *
     * @param anyway whether they are read even if they have not changed
     * @param asked whether somebody wants to know at once if they cannot be used
     */
    private synchronized void look(boolean anyway, boolean asked) {
        if (closed) {
            return;
        }
        forced |= anyway;
        wanted |= asked;
        again = true;
        if (!working) {
            working = true;
            Thread.ofVirtual().name("millrace-tls-reload").start(this::work);
        }
    }

    // ---- Looking, on a virtual thread, one at a time ----

    private void work() {
        for (; ; ) {
            boolean anyway;
            boolean asked;
            synchronized (this) {
                if (!again || closed) {
                    working = false;
                    return;
                }
                again = false;
                anyway = forced;
                forced = false;
                asked = wanted;
                wanted = false;
            }
            try {
                watchAll();
            } catch (Throwable e) {
                FailureLog.report(LOOK, e); // there may be no watches left: the files are read all the same
            }
            try {
                tryFiles(anyway, asked);
                warnOfExpiry();
            } catch (Throwable e) {
                FailureLog.report(LOOK, e);
            }
        }
    }

    private void tryFiles(boolean anyway, boolean asked) throws IOException {
        String now = contents();
        if (now.equals(used) && !anyway && failure == null) {
            return;
        }
        boolean changed = !now.equals(used);
        try {
            tls.reload();
        } catch (IOException e) {
            onUnusable(now, e, asked);
            return;
        }
        used = now;
        complainedAbout = null;
        failure = null;
        synchronized (this) {
            failingSince = null;
            if (changed) {
                reloads++;
            }
            warned = null;
        }
        if (!contents().equals(now)) {
            look(false, false); // changed while it was read: what was read may be of both
        }
        if (changed || anyway) {
            LOGGER.log(
                    changed ? Level.INFO : Level.DEBUG,
                    () -> "TLS uses what " + tls.files() + " hold now, valid until "
                            + tls.expiry().map(Instant::toString).orElse("ever"));
        }
    }

    private void onUnusable(String now, IOException why, boolean asked) {
        failure = why;
        long time = on.clock().nanoTime();
        boolean patient;
        synchronized (this) {
            if (failingSince == null || !now.equals(failing)) {
                failing = now; // another step of the change
                failingSince = time;
            }
            patient = !asked && time - failingSince < PATIENCE.toNanos();
            if (patient && settling == null && !closed) {
                settling = schedule(RETRY, this::onSettled);
            }
        }
        if (!patient && !now.equals(complainedAbout)) {
            complainedAbout = now;
            LOGGER.log(
                    Level.WARNING,
                    "TLS goes on with the certificates that it has: " + why.getMessage()
                            + ". It will look again when a file changes.");
        }
    }

    private void warnOfExpiry() {
        Instant expiry = tls.expiry().orElse(null);
        if (expiry == null) {
            return;
        }
        Instant now = on.wallClock().instant();
        Duration left = Duration.between(now, expiry);
        if (left.compareTo(WARNED_BEFORE) >= 0) {
            return;
        }
        synchronized (this) {
            if (warned != null && Duration.between(warned, now).compareTo(WARNED_EVERY) < 0) {
                return;
            }
            warned = now;
        }
        LOGGER.log(
                Level.WARNING,
                left.isNegative()
                        ? "a TLS certificate in " + tls.files() + " has expired at " + expiry
                                + ": peers will refuse it; replace the files"
                        : "a TLS certificate in " + tls.files() + " expires at " + expiry + ", in " + left.toDays()
                                + " days; replace the files before");
    }

    /** Returns what tells the contents of all files apart from other contents. */
    private String contents() {
        try {
            MessageDigest all = MessageDigest.getInstance("SHA-256");
            for (Path file : tls.files()) {
                byte[] bytes;
                try {
                    bytes = Files.readAllBytes(file);
                } catch (IOException e) {
                    bytes = new byte[0]; // which is no certificate either
                }
                all.update((byte) (bytes.length >> 8));
                all.update((byte) bytes.length);
                all.update(bytes);
            }
            return HexFormat.of().formatHex(all.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    // ---- What is watched ----

    /** Watches the directories of all files and of the links on the way to them, as these are now. */
    private void watchAll() throws IOException {
        Set<Path> found = new HashSet<>();
        for (Path file : tls.files()) {
            addNames(file.toAbsolutePath(), found);
        }
        Set<Path> parents = new HashSet<>();
        for (Path name : found) {
            Path parent = name.getParent();
            if (parent != null) {
                parents.add(parent);
            }
        }
        for (Path old : directories) {
            if (!parents.contains(old)) {
                watch.unwatch(old);
            }
        }
        names = Set.copyOf(found);
        Set<Path> watched = new HashSet<>();
        for (Path parent : parents) {
            if (Files.isDirectory(parent)) {
                watch.watch(parent); // again, because one that was deleted and made again is another
                watched.add(parent);
            }
        }
        directories = Set.copyOf(watched);
    }

    /** Adds the names, in real directories, that decide which file a path leads to. */
    private static void addNames(Path file, Set<Path> to) throws IOException {
        Path left = file;
        for (int links = 0; links < MOST_LINKS; links++) {
            Path at = left.getRoot();
            Path next = null;
            for (int i = 0; i < left.getNameCount(); i++) {
                String name = left.getName(i).toString();
                if (name.equals(".") || name.equals("..")) {
                    // Only here, where no link is left before it: the parent of a link's target is another one.
                    at = name.equals(".") || at.getParent() == null ? at : at.getParent();
                    continue;
                }
                at = at.resolve(name);
                boolean last = i == left.getNameCount() - 1;
                if (Files.isSymbolicLink(at)) {
                    to.add(at);
                    Path target = at.resolveSibling(Files.readSymbolicLink(at));
                    next = last ? target : target.resolve(left.subpath(i + 1, left.getNameCount()));
                    break;
                }
                if (last) {
                    to.add(at);
                }
            }
            if (next == null) {
                return;
            }
            left = next;
        }
    }

    // ---- What users ask ----

    public Optional<IOException> failure() {
        return Optional.ofNullable(failure);
    }

    public synchronized long reloads() {
        return reloads;
    }

    @Override
    public void close() {
        AlarmKey first;
        AlarmKey second;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            first = settling;
            second = routine;
        }
        if (first != null) {
            on.cancel(first);
        }
        if (second != null) {
            on.cancel(second);
        }
        changes.close();
        watch.close();
    }

    /** For tests. */
    FileWatch watched() {
        return watch;
    }

    @Override
    public String toString() {
        return "a watch of " + tls.files();
    }
}
