package io.millrace.server.tls;

import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the two ends of a TLS connection have agreed on.
 *
 * @param protocol {@code TLSv1.3} or {@code TLSv1.2}
 * @param cipherSuite for example {@code TLS_AES_256_GCM_SHA384}
 * @param applicationProtocol the protocol above TLS (ALPN), for example {@code h2}; null if none was agreed
 * @param serverName the name that the client asked for (SNI); null if it asked for none
 * @param peerCertificates the peer's certificate, followed by those of the authorities that it sent; empty if it has
 *     shown none
 */
public record TlsSession(
        String protocol,
        String cipherSuite,
        @Nullable String applicationProtocol,
        @Nullable String serverName,
        List<X509Certificate> peerCertificates) {
    /** Copies the list. */
    public TlsSession {
        Objects.requireNonNull(protocol, "protocol");
        Objects.requireNonNull(cipherSuite, "cipherSuite");
        peerCertificates = List.copyOf(peerCertificates);
    }

    /** Names the peer's certificates by their subjects. */
    @Override
    public String toString() {
        return protocol + " with " + cipherSuite
                + (applicationProtocol == null ? "" : ", ALPN " + applicationProtocol)
                + (serverName == null ? "" : ", server name " + serverName)
                + (peerCertificates.isEmpty()
                        ? ", no certificate of the peer"
                        : peerCertificates.stream()
                                .map(each -> each.getSubjectX500Principal().getName())
                                .collect(Collectors.joining(", issued by ", ", peer ", "")));
    }
}
