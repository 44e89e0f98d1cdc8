package io.millrace.server.secure;

import io.millrace.server.support.UnixPeers;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsSession;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.StandardConstants;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The settings behind {@link Tls}: makes an engine for each connection, with what the files held when last read. */
public final class TlsSettings implements Tls {
    /**
     * Accepts any name, and remembers it. With a matcher, the engine resumes no session for another name than that for
     * which it was made.
     */
    private static final class AskedName extends SNIMatcher {
        private volatile @Nullable SNIServerName asked;

        AskedName() {
            super(StandardConstants.SNI_HOST_NAME);
        }

        @Override
        public boolean matches(SNIServerName name) {
            asked = name;
            return true;
        }
    }

    private final TlsOptions options;
    private final HandshakeGate handshakes;
    private volatile Loaded loaded;

    /** What the files held, as a whole, so that a handshake never uses some of the old and some of the new. */
    private record Loaded(SSLContext context, @Nullable Instant expiry) {}

    /** With a context of the user's. */
    public TlsSettings(TlsOptions options) {
        this(options, new Loaded(Objects.requireNonNull(options.context()), null));
    }

    private TlsSettings(TlsOptions options, Loaded loaded) {
        this.options = options;
        this.handshakes = new HandshakeGate(options.computed(), options.waiting());
        this.loaded = loaded;
        check();
    }

    /** Has an engine begin, so that settings with which none could are refused here, and not at every connection. */
    private void check() {
        try {
            engine(null).beginHandshake();
        } catch (IOException | IllegalStateException e) {
            throw new IllegalArgumentException(
                    options.context() == null
                            ? "no handshake can begin with these TLS settings: " + e.getMessage()
                                    + "; name cipher suites that the JDK supports and that fit the protocols"
                            : "no handshake can begin with this SSLContext: " + e.getMessage()
                                    + "; call its init before, with keys and trust",
                    e);
        }
    }

    public static TlsSettings load(TlsOptions options) throws IOException {
        if (options.clientCertificates() != ClientCertificates.NONE && options.trust() == null) {
            throw new IllegalArgumentException(
                    "clients are asked for certificates, but it was not said whose; call trust with the authorities that issue them");
        }
        return new TlsSettings(options, read(options));
    }

    private static Loaded read(TlsOptions options) throws IOException {
        List<CertificateChooser.Entry> entries = new ArrayList<>();
        Instant expiry = null;
        for (CertificateFiles files : options.certificates()) {
            Path key = files.key();
            if (key != null) {
                entries.add(PemFile.entry(files.chain(), key, files.passphrase()));
            } else {
                entries.addAll(KeyStoreFile.entries(files.chain(), Objects.requireNonNull(files.passphrase())));
            }
        }
        for (CertificateChooser.Entry entry : entries) {
            for (X509Certificate each : entry.chain()) {
                expiry = earlier(expiry, each.getNotAfter().toInstant());
            }
        }
        TrustManager[] trusted = null;
        try {
            Path trust = options.trust();
            if (trust != null) {
                KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
                store.load(null, null);
                for (X509Certificate each : PemFile.certificates(trust)) {
                    store.setCertificateEntry(String.valueOf(store.size()), each);
                    expiry = earlier(expiry, each.getNotAfter().toInstant());
                }
                TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
                factory.init(store);
                trusted = factory.getTrustManagers();
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new CertificateChooser(entries)}, trusted, null);
            return new Loaded(context, expiry);
        } catch (GeneralSecurityException e) {
            throw new IOException("cannot set up TLS: " + e.getMessage(), e);
        }
    }

    private static Instant earlier(@Nullable Instant one, Instant other) {
        return one == null || other.isBefore(one) ? other : one;
    }

    @Override
    public synchronized void reload() throws IOException {
        if (options.context() != null) {
            throw new IllegalStateException("cannot reload: the settings were made from a context, not from files");
        }
        loaded = read(options);
    }

    @Override
    public Optional<Instant> expiry() {
        return Optional.ofNullable(loaded.expiry());
    }

    @Override
    public List<Path> files() {
        return options.files();
    }

    /** Throws if a server cannot use these settings. */
    public void checkServer() {
        if (options.context() == null && options.certificates().isEmpty()) {
            throw new IllegalArgumentException(
                    "a server needs a certificate and its key: use Tls.server(chain, key), or a builder's certificate(chain, key)");
        }
    }

    long handshakeNanos() {
        return options.handshakeNanos();
    }

    HandshakeGate handshakes() {
        return handshakes;
    }

    // ---- Engines ----

    /**
     * Makes an engine for one connection.
     *
     * @param target what a client connects to; null on a server
     */
    SSLEngine engine(@Nullable InetSocketAddress target) throws IOException {
        SSLContext context = loaded.context();
        SSLEngine engine;
        if (target == null) {
            engine = context.createSSLEngine();
            engine.setUseClientMode(false);
        } else {
            String host = options.serverName();
            if (host == null) {
                // The path of a Unix socket is no name that a certificate could have, and the peer is on this machine.
                host = UnixPeers.isStandIn(target) ? "localhost" : target.getHostString();
            }
            engine = context.createSSLEngine(host, target.getPort());
            engine.setUseClientMode(true);
        }
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(options.protocols().toArray(String[]::new));
        List<String> ciphers = options.ciphers();
        if (ciphers != null) {
            parameters.setCipherSuites(ciphers.toArray(String[]::new));
        } else if (options.context() == null) {
            parameters.setCipherSuites(Arrays.stream(parameters.getCipherSuites())
                    .filter(TlsSettings::isModern)
                    .toArray(String[]::new));
        }
        parameters.setApplicationProtocols(options.applicationProtocols().toArray(String[]::new));
        if (target == null) {
            parameters.setUseCipherSuitesOrder(true);
            parameters.setSNIMatchers(List.of(new AskedName()));
            switch (options.clientCertificates()) {
                case NONE -> {
                    // The default; a context of the user's may have another.
                }
                case WANT -> parameters.setWantClientAuth(true);
                case NEED -> parameters.setNeedClientAuth(true);
            }
        } else {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            SNIHostName name = serverName(engine.getPeerHost());
            parameters.setServerNames(name == null ? List.of() : List.of(name));
        }
        try {
            engine.setSSLParameters(parameters);
        } catch (IllegalArgumentException e) {
            throw new IOException("cannot use these TLS settings: " + e.getMessage(), e);
        }
        return engine;
    }

    /** Returns whether a cipher suite has forward secrecy and authenticated encryption: all of TLS 1.3 have. */
    private static boolean isModern(String suite) {
        boolean authenticates = suite.contains("_GCM_") || suite.contains("_CHACHA20_");
        return authenticates && (!suite.contains("_WITH_") || suite.startsWith("TLS_ECDHE_"));
    }

    /** Returns the name to ask for; null for an address, which has no name. */
    private static @Nullable SNIHostName serverName(@Nullable String host) {
        if (host == null || host.indexOf(':') >= 0 || host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'))) {
            return null;
        }
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        try {
            return new SNIHostName(name);
        } catch (IllegalArgumentException e) {
            return null; // no name of a host: it will not be verified either
        }
    }

    /** Returns what an engine has agreed on. */
    TlsSession session(SSLEngine engine) {
        SSLSession session = engine.getSession();
        String application = engine.getApplicationProtocol();
        return new TlsSession(
                session.getProtocol(),
                session.getCipherSuite(),
                application == null || application.isEmpty() ? null : application,
                requestedName(engine),
                peerCertificates(session));
    }

    private static List<SNIServerName> asked(SSLParameters parameters) {
        for (SNIMatcher each : parameters.getSNIMatchers()) {
            if (each instanceof AskedName name && name.asked != null) {
                return List.of(name.asked);
            }
        }
        return List.of();
    }

    private static @Nullable String requestedName(SSLEngine engine) {
        SSLParameters parameters = engine.getSSLParameters();
        List<SNIServerName> names = engine.getUseClientMode() ? parameters.getServerNames() : asked(parameters);
        for (SNIServerName each : names == null ? List.<SNIServerName>of() : names) {
            if (each instanceof SNIHostName host) {
                return host.getAsciiName();
            }
            if (each.getType() == 0) {
                return new String(each.getEncoded(), java.nio.charset.StandardCharsets.US_ASCII);
            }
        }
        return null;
    }

    private static List<X509Certificate> peerCertificates(SSLSession session) {
        List<X509Certificate> chain = new ArrayList<>();
        try {
            for (Certificate each : session.getPeerCertificates()) {
                chain.add((X509Certificate) each);
            }
        } catch (SSLPeerUnverifiedException e) {
            return List.of(); // it has shown none
        }
        return chain;
    }

    @Override
    public String toString() {
        return "TLS with " + (options.context() != null ? "a context of the user's" : options.files());
    }
}
