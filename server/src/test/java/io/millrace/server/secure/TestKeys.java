package io.millrace.server.secure;

import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate for localhost that is its own authority, made by the JDK's keytool when a test first needs it. */
final class TestKeys {
    static final char[] PASSWORD = "secret".toCharArray();
    static final TestKeys SHARED = new TestKeys();

    final Path store;
    final Path chain;
    final Path key;
    final SSLContext context;

    private TestKeys() {
        try {
            Path directory = Files.createTempDirectory("millrace-keys");
            store = directory.resolve("store.p12");
            chain = directory.resolve("chain.pem");
            key = directory.resolve("key.pem");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    for (Path file : List.of(store, chain, key, directory)) {
                        Files.deleteIfExists(file);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }));
            make(store);
            KeyStore made = load();
            Files.writeString(
                    chain, pem("CERTIFICATE", made.getCertificate("own").getEncoded()));
            Files.writeString(
                    key, pem("PRIVATE KEY", made.getKey("own", PASSWORD).getEncoded()));
            KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
            own.init(made, PASSWORD);
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("own", made.getCertificate("own"));
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted);
            context = SSLContext.getInstance("TLS");
            context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        } catch (IOException | GeneralSecurityException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void make(Path store) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "own",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost,ip:127.0.0.1",
                        "-ext",
                        "bc:c=ca:true",
                        "-validity",
                        "30",
                        "-keystore",
                        store.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes());
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new AssertionError("keytool: " + said);
        }
    }

    private KeyStore load() throws IOException, GeneralSecurityException {
        KeyStore loaded = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            loaded.load(in, PASSWORD);
        }
        return loaded;
    }

    static String pem(String type, byte[] der) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + type + "-----\n";
    }

    /** A server that prefers the cipher that is fast without compiled code of its own: AES takes ten times as long. */
    TlsSettings server(String version) {
        String cipher = version.equals("TLSv1.3")
                ? "TLS_CHACHA20_POLY1305_SHA256"
                : "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
        try {
            return (TlsSettings) Tls.builder()
                    .certificate(chain, key)
                    .protocols(version)
                    .ciphers(cipher)
                    .build();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    TlsSettings client(String version) {
        try {
            return (TlsSettings) Tls.builder().trust(chain).protocols(version).build();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
