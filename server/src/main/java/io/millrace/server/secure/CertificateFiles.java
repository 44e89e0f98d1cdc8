package io.millrace.server.secure;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a certificate and its key are.
 *
 * @param chain the file with the certificate; or a key store, which has both
 * @param key null if it is a key store
 * @param passphrase for the key or the store; null if the key is not encrypted
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record CertificateFiles(Path chain, @Nullable Path key, char @Nullable [] passphrase) {
    public CertificateFiles {
        Objects.requireNonNull(chain, "chain");
    }
}
