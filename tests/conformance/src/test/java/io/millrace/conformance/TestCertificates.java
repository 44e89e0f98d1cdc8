package io.millrace.conformance;

import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates that the JDK's keytool makes when a test first needs them: an authority, and what it has issued. */
final class TestCertificates {
    private static final char[] PASSWORD = "secret".toCharArray();
    private static final String LOCAL = "san=dns:localhost,ip:127.0.0.1,ip:0:0:0:0:0:0:0:1";
    private static final TestCertificates SHARED = new TestCertificates(temporary());

    private final Path directory;
    private final Path store;

    TestCertificates(Path directory) {
        this.directory = directory;
        this.store = directory.resolve("store.p12");
        keytool("ca", "EC", "CN=Millrace test authority", "bc:c=ca:true");
    }

    private static Path temporary() {
        try {
            Path made = Files.createTempDirectory("millrace-tls");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Those that tests share. */
    static TestCertificates shared() {
        return SHARED;
    }

    // ---- Making them ----

    private void keytool(String alias, String algorithm, String name, String extension) {
        keytool(alias, algorithm, name, extension, 30);
    }

    private void keytool(String alias, String algorithm, String name, String extension, int days) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                alias,
                "-keyalg",
                algorithm,
                "-dname",
                name,
                "-ext",
                extension,
                "-validity",
                String.valueOf(days),
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD)));
        command.addAll(algorithm.equals("EC") ? List.of("-groupname", "secp256r1") : List.of("-keysize", "2048"));
        if (!alias.equals("ca")) {
            command.addAll(List.of("-signer", "ca"));
        }
        try {
            Process made = new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(made.getInputStream().readAllBytes());
            if (!made.waitFor(60, TimeUnit.SECONDS) || made.exitValue() != 0) {
                throw new AssertionError("keytool: " + said);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private KeyStore loaded() throws IOException, GeneralSecurityException {
        KeyStore loaded = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            loaded.load(in, PASSWORD);
        }
        return loaded;
    }

    private synchronized Path write(String alias, boolean key) {
        Path file = directory.resolve(alias + (key ? ".key" : ".pem"));
        if (Files.exists(file)) {
            return file;
        }
        try {
            if (!loaded().containsAlias(alias)) {
                switch (alias) {
                    case "ec" -> keytool(alias, "EC", "CN=localhost", LOCAL);
                    case "rsa" -> keytool(alias, "RSA", "CN=localhost", LOCAL);
                    case "other" -> keytool(alias, "EC", "CN=other", "san=dns:other.example,dns:*.wild.example");
                    case "short" -> keytool(alias, "EC", "CN=soon over", "san=dns:short.example", 20);
                    case "client" -> keytool(alias, "EC", "CN=a client", "san=dns:client.example");
                    default -> throw new AssertionError(alias);
                }
            }
            KeyStore all = loaded();
            StringBuilder text = new StringBuilder();
            if (key) {
                text.append(pem("PRIVATE KEY", all.getKey(alias, PASSWORD).getEncoded()));
            } else {
                for (Certificate each : all.getCertificateChain(alias)) {
                    text.append(pem("CERTIFICATE", each.getEncoded()));
                }
            }
            return Files.writeString(file, text);
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static String pem(String type, byte[] der) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + type + "-----\n";
    }

    // ---- Using them ----

    /** The certificate of an alias, and of the authority: ec and rsa are localhost's, other is other.example's. */
    Path chain(String alias) {
        return write(alias, false);
    }

    Path key(String alias) {
        return write(alias, true);
    }

    /** The key store with all that were made so far. */
    Path store() {
        return store;
    }

    Path authority() {
        return write("ca", false);
    }

    /** A server that prefers the cipher that is fast without compiled code of its own: AES takes ten times as long. */
    Tls server() {
        try {
            return Tls.builder()
                    .certificate(chain("ec"), key("ec"))
                    .ciphers(
                            "TLS_CHACHA20_POLY1305_SHA256",
                            "TLS_AES_128_GCM_SHA256",
                            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
                    .build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Tls client() {
        try {
            return Tls.builder().trust(authority()).build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A context of the JDK with the certificates of an alias, which trusts the authority. */
    SSLContext context(String alias) {
        try {
            chain(alias);
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, null);
            KeyStore all = loaded();
            keys.setKeyEntry(alias, all.getKey(alias, PASSWORD), PASSWORD, all.getCertificateChain(alias));
            KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
            own.init(keys, PASSWORD);
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("ca", all.getCertificate("ca"));
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }
}
