package io.millrace.server.secure;

import io.millrace.server.tls.Tls.ClientCertificates;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * What a builder has collected. Does not change.
 *
 * @param context null to make one
 * @param trust null for the platform's
 * @param ciphers null for the defaults
 * @param serverName null for the host
 */
public record TlsOptions(
        @Nullable SSLContext context,
        List<CertificateFiles> certificates,
        @Nullable Path trust,
        ClientCertificates clientCertificates,
        List<String> protocols,
        @Nullable List<String> ciphers,
        List<String> applicationProtocols,
        @Nullable String serverName,
        long handshakeNanos,
        int computed,
        int waiting) {
    public static final Set<String> PROTOCOLS = Set.of("TLSv1.3", "TLSv1.2");

    public TlsOptions() {
        this(
                null,
                List.of(),
                null,
                ClientCertificates.NONE,
                List.of("TLSv1.3", "TLSv1.2"),
                null,
                List.of(),
                null,
                10_000_000_000L,
                Math.max(1, Runtime.getRuntime().availableProcessors() / 2),
                1000);
    }

    public TlsOptions withContext(SSLContext made) {
        return new TlsOptions(
                made,
                certificates,
                trust,
                clientCertificates,
                protocols,
                ciphers,
                applicationProtocols,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withCertificate(CertificateFiles added) {
        List<CertificateFiles> all = new ArrayList<>(certificates);
        all.add(added);
        return new TlsOptions(
                context,
                List.copyOf(all),
                trust,
                clientCertificates,
                protocols,
                ciphers,
                applicationProtocols,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withTrust(Path authorities) {
        return new TlsOptions(
                context,
                certificates,
                authorities,
                clientCertificates,
                protocols,
                ciphers,
                applicationProtocols,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withClientCertificates(ClientCertificates whether) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                whether,
                protocols,
                ciphers,
                applicationProtocols,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withProtocols(List<String> names) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                clientCertificates,
                names,
                ciphers,
                applicationProtocols,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withCiphers(List<String> names) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                clientCertificates,
                protocols,
                names,
                applicationProtocols,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withApplicationProtocols(List<String> names) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                clientCertificates,
                protocols,
                ciphers,
                names,
                serverName,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withServerName(String name) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                clientCertificates,
                protocols,
                ciphers,
                applicationProtocols,
                name,
                handshakeNanos,
                computed,
                waiting);
    }

    public TlsOptions withHandshakeNanos(long nanos) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                clientCertificates,
                protocols,
                ciphers,
                applicationProtocols,
                serverName,
                nanos,
                computed,
                waiting);
    }

    public TlsOptions withHandshakeLimit(int atATime, int more) {
        return new TlsOptions(
                context,
                certificates,
                trust,
                clientCertificates,
                protocols,
                ciphers,
                applicationProtocols,
                serverName,
                handshakeNanos,
                atATime,
                more);
    }

    /** Returns all files. */
    public List<Path> files() {
        List<Path> files = new ArrayList<>();
        for (CertificateFiles each : certificates) {
            files.add(each.chain());
            if (each.key() != null) {
                files.add(each.key());
            }
        }
        if (trust != null) {
            files.add(trust);
        }
        return files.stream().distinct().toList();
    }
}
