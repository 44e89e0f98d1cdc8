package io.millrace.server.secure;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a certificate and its key are.
 *
 * @param passphrase for the key; null if it is not encrypted
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record CertificateFiles(Path chain, Path key, char @Nullable [] passphrase) {
    public CertificateFiles {
        Objects.requireNonNull(chain, "chain");
        Objects.requireNonNull(key, "key");
    }
}
