package io.millrace.server.tls;

import io.millrace.poll.internal.Durations;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.secure.CertificateFiles;
import io.millrace.server.secure.TlsOptions;
import io.millrace.server.secure.TlsSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * The TLS settings of a {@link TcpServer} or a {@link TcpClient}.
 *
 * {@snippet :
 * TcpServer.builder().tls(Tls.server(Path.of("chain.pem"), Path.of("key.pem"))).start(handler);
 *
 * TcpClient.builder().tls(Tls.client()).open().connect("example.org", 443, handler);
 * }
 *
 * <p><b>What it guarantees.</b> Connections are encrypted with TLS 1.3 or 1.2 and nothing older; without
 * renegotiation, compression or early data. A handler is not told of a connection before its handshake is complete. A
 * client verifies that the server's certificate was issued for the host to which it connects, by an authority that it
 * trusts; this cannot be turned off.
 *
 * <p><b>Ends.</b> A connection that is closed in order tells its peer so (close_notify). If a peer's input ends without
 * that, {@code onError} gets a {@link TlsTruncatedException}. With TLS 1.3 each direction can end by itself, as in TCP.
 * With TLS 1.2 the peer's end of input ends both: what was not sent by then is lost, and {@code onError} is called.
 *
 * <p><b>Threads.</b> Any thread may call any method. One object may be used by any number of servers and clients, which
 * then share its sessions and its limit of handshakes.
 */
public sealed interface Tls permits TlsSettings {
    /** Whether a server asks its clients for certificates. */
    enum ClientCertificates {
        /** It does not ask. */
        NONE,
        /** It asks, and accepts clients without one; one that is not trusted ends the handshake. */
        WANT,
        /** It asks, and refuses clients without one. */
        NEED
    }

    /**
     * Returns settings for a server with one certificate.
     *
     * @param chain a PEM file with the server's certificate, followed by those of the authorities between it and the
     *     root
     * @param key a PEM file with its private key, unencrypted
     * @return to be given to the server's builder
     * @throws IOException if a file cannot be read or used; the message says which, and why
     */
    static Tls server(Path chain, Path key) throws IOException {
        return builder().certificate(chain, key).build();
    }

    /**
     * Returns settings for a client that trusts whom the platform trusts.
     *
     * @return to be given to the client's builder
     * @throws IOException if the platform's certificates cannot be read
     */
    static Tls client() throws IOException {
        return builder().build();
    }

    /**
     * Returns settings for a server or client with a context of your own: its keys, its trust and its sessions.
     * Everything else is as with the other settings: TLS 1.3 and 1.2 only, and clients verify names.
     *
     * @param context initialized
     * @return to be given to a builder
     * @throws IllegalArgumentException if the context is not initialized, or supports neither TLS 1.3 nor 1.2
     */
    static Tls of(SSLContext context) {
        return new TlsSettings(new TlsOptions().withContext(Objects.requireNonNull(context, "context")));
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @return a builder with the defaults
     */
    static Builder builder() {
        return new Builder();
    }

    /**
     * Reads the files again, and uses them for all handshakes that begin from now on. Connections that stand are not
     * affected. Either everything that was read is used, or, if this throws, nothing. Blocks while it reads.
     *
     * @throws IOException if a file cannot be read or used: the message says which, and why
     * @throws IllegalStateException if there are no files, because a context was given
     */
    void reload() throws IOException;

    /**
     * Returns until when the certificates are valid.
     *
     * @return the earliest end of the certificates in use, including those of authorities in the files; empty if there
     *     are none, or a context was given
     */
    Optional<Instant> expiry();

    /**
     * Returns the files that {@link #reload} reads.
     *
     * @return to be watched; empty if a context was given
     */
    List<Path> files();

    /** Collects TLS settings. */
    final class Builder {
        private TlsOptions options = new TlsOptions();

        private Builder() {}

        /**
         * Adds a certificate. A server needs one; with several, it chooses by the name that a client asks for (SNI),
         * and the first one if none fits. A client shows its first one that the server accepts.
         *
         * @param chain a PEM file with the certificate, followed by those of the authorities between it and the root
         * @param key a PEM file with its private key, unencrypted: PKCS#8, PKCS#1 or SEC 1, of RSA, EC or EdDSA
         * @return this
         */
        public Builder certificate(Path chain, Path key) {
            options = options.withCertificate(new CertificateFiles(chain, Objects.requireNonNull(key, "key"), null));
            return this;
        }

        /**
         * Adds a certificate whose key is encrypted: see {@link #certificate(Path, Path)}.
         *
         * @param chain a PEM file
         * @param key a PEM file with an encrypted PKCS#8 key
         * @param passphrase for the key; copied
         * @return this
         */
        public Builder certificate(Path chain, Path key, char[] passphrase) {
            options = options.withCertificate(
                    new CertificateFiles(chain, Objects.requireNonNull(key, "key"), passphrase.clone()));
            return this;
        }

        /**
         * Adds all certificates of a key store that have their private key there, in the order of their aliases: see
         * {@link #certificate(Path, Path)}.
         *
         * @param file a key store in PKCS#12 or JKS, as the JDK's keytool and openssl pkcs12 write them
         * @param password of the store and of its keys; copied
         * @return this
         */
        public Builder keyStore(Path file, char[] password) {
            options = options.withCertificate(new CertificateFiles(file, null, password.clone()));
            return this;
        }

        /**
         * Sets which authorities are trusted: by a client instead of the platform's, by a server to have issued the
         * certificates of clients.
         *
         * @param authorities a PEM file with their certificates
         * @return this
         */
        public Builder trust(Path authorities) {
            options = options.withTrust(Objects.requireNonNull(authorities, "authorities"));
            return this;
        }

        /**
         * Sets whether a server asks clients for certificates, which {@link #trust} must have issued.
         *
         * @param whether {@code NONE} by default
         * @return this
         */
        public Builder clientCertificates(ClientCertificates whether) {
            options = options.withClientCertificates(Objects.requireNonNull(whether, "whether"));
            return this;
        }

        /**
         * Sets the versions of TLS.
         *
         * @param names {@code TLSv1.3}, {@code TLSv1.2} or both, which is the default
         * @return this
         * @throws IllegalArgumentException if one is another version
         */
        public Builder protocols(String... names) {
            for (String name : names) {
                if (!TlsOptions.PROTOCOLS.contains(name)) {
                    throw new IllegalArgumentException(
                            "cannot use " + name + ": only TLSv1.3 and TLSv1.2 are safe, and supported");
                }
            }
            if (names.length == 0) {
                throw new IllegalArgumentException("name at least one of TLSv1.3 and TLSv1.2");
            }
            options = options.withProtocols(List.of(names));
            return this;
        }

        /**
         * Sets the cipher suites.
         *
         * @param names the JDK's names; by default those of its defaults that have forward secrecy and authenticated
         *     encryption. A server prefers them in this order
         * @return this
         */
        public Builder ciphers(String... names) {
            options = options.withCiphers(List.of(names));
            return this;
        }

        /**
         * Sets the protocols above TLS that are offered or accepted (ALPN). If none of a client's is among a server's,
         * the handshake fails. Which one was agreed: see {@link TlsSession#applicationProtocol}.
         *
         * @param names for example {@code h2} and {@code http/1.1}, in order of preference; none by default
         * @return this
         * @throws IllegalArgumentException if one is empty, or longer than 255 bytes in ISO 8859-1
         */
        public Builder applicationProtocols(String... names) {
            for (String name : names) {
                if (name.isEmpty() || name.length() > 255 || name.chars().anyMatch(c -> c > 255)) {
                    throw new IllegalArgumentException(
                            "an application protocol has 1 to 255 bytes in ISO 8859-1, not \"" + name + '"');
                }
            }
            options = options.withApplicationProtocols(List.of(names));
            return this;
        }

        /**
         * Sets which name a client asks for and verifies, instead of that of the host to which it connects.
         *
         * @param name for example {@code example.org}
         * @return this
         */
        public Builder serverName(String name) {
            options = options.withServerName(Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * Sets how long a handshake may take. A client's connect timeout covers it, too.
         *
         * @param limit 10 s by default
         * @return this
         * @throws IllegalArgumentException if it is not positive
         */
        public Builder handshakeTimeout(Duration limit) {
            long nanos = Durations.limitNanos(limit, "the handshake timeout");
            if (nanos == 0) {
                throw new IllegalArgumentException("the handshake timeout must be positive, not " + limit);
            }
            options = options.withHandshakeNanos(nanos);
            return this;
        }

        /**
         * Limits how many handshakes are computed at a time, off the loops. Further ones wait; if too many wait, a
         * connection is turned away, and {@code onError} gets a {@link io.millrace.server.LimitException}.
         *
         * @param computed half as many as there are processors by default, and at least one
         * @param waiting 1,000 by default
         * @return this
         * @throws IllegalArgumentException if {@code computed} is not positive, or {@code waiting} is negative
         */
        public Builder handshakeLimit(int computed, int waiting) {
            if (computed < 1 || waiting < 0) {
                throw new IllegalArgumentException(
                        "at least one handshake must be computed, and none or more wait, not " + computed + " and "
                                + waiting);
            }
            options = options.withHandshakeLimit(computed, waiting);
            return this;
        }

        /**
         * Reads the files.
         *
         * @return to be given to the builder of a server or client
         * @throws IOException if a file cannot be read or used: the message says which, and why
         * @throws IllegalArgumentException if clients are asked for certificates, but nobody is trusted; or if there is
         *     no such cipher suite, or none that fits the protocols
         */
        public Tls build() throws IOException {
            return TlsSettings.load(options);
        }

        @Override
        public String toString() {
            return "TLS settings with " + Arrays.toString(options.files().toArray());
        }
    }
}
