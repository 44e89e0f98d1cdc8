package io.millrace.server.tls;

import io.millrace.engine.Reactors;
import io.millrace.server.secure.CertificateWatch;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;

/**
 * Reloads certificates when their files change, and warns before they expire.
 *
 * {@snippet :
 * Tls tls = Tls.server(Path.of("chain.pem"), Path.of("key.pem"));
 * TlsWatch watch = TlsWatch.start(tls, reactors);
 * }
 *
 * <p><b>What it guarantees.</b> When a file is written, replaced by a rename, or reached through a symbolic link that is
 * changed, the files are read again soon after, by {@link Tls#reload}: handshakes that begin from then on use them, and
 * connections that stand are not affected. Files that cannot be used, for example because only the certificate has been
 * written and not yet its key, are tried again for some seconds; until they can be used, the old ones are. Then that is
 * logged once, and {@link #failure} says why. The files are also looked at every hour, because some file systems do not
 * report changes.
 *
 * <p><b>Expiry.</b> If the certificates in use expire within two weeks, or have expired, that is logged once a day. For a
 * metric, read {@link Tls#expiry}.
 *
 * <p><b>Logs.</b> To {@code io.millrace.server}: a reload as INFO, everything else as WARNING.
 *
 * <p><b>Threads.</b> Any thread may call any method. Files are read on a virtual thread, never on a loop.
 */
public final class TlsWatch implements AutoCloseable {
    private final CertificateWatch watch;

    private TlsWatch(CertificateWatch watch) {
        this.watch = watch;
    }

    /**
     * Starts to watch.
     *
     * @param tls whose files to watch
     * @param on where the changes are reported; when it ends, so does this
     * @return a watch, which the caller must close
     * @throws IOException if the system refuses to watch
     * @throws IllegalArgumentException if there are no files, because a context was given, or none is needed
     */
    public static TlsWatch start(Tls tls, Reactors on) throws IOException {
        if (tls.files().isEmpty()) {
            throw new IllegalArgumentException("cannot watch " + tls + ": it was not made from files");
        }
        return new TlsWatch(CertificateWatch.start(tls, Objects.requireNonNull(on, "on")));
    }

    /**
     * Reads the files again now, whether or not a change was reported, for example on SIGHUP. Does not wait for it. What
     * comes of it is logged: also that a file cannot be used, without waiting for another change.
     */
    public void reload() {
        watch.reload();
    }

    /**
     * Returns why the files as they are now are not in use.
     *
     * @return what {@link Tls#reload} threw; empty if the last reload succeeded, or there was none
     */
    public Optional<IOException> failure() {
        return watch.failure();
    }

    /**
     * Returns how often changed files were taken into use.
     *
     * @return 0 at first
     */
    public long reloads() {
        return watch.reloads();
    }

    /** Stops watching. The certificates stay in use. Idempotent. */
    @Override
    public void close() {
        watch.close();
    }

    @Override
    public String toString() {
        return watch.toString();
    }
}
