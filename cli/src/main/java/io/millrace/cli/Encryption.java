package io.millrace.cli;

import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/**
 * How a server encrypts its connections, if it does: with a certificate from files, or with one that the JDK's keytool
 * makes at the start.
 *
 * @param certificate null for a certificate that is made
 * @param key null with it
 */
record Encryption(@Nullable Path certificate, @Nullable Path key) {
    private static final String SELF_SIGNED = "self-signed";
    private static final String DAYS = "30";
    private static final long PATIENCE_SECONDS = 60;

    /** Returns null if the connections are to be plain. */
    static @Nullable Encryption of(ParseResult parsed) throws UsageException {
        String certificate = parsed.matchedOptionValue("--tls-cert", (String) null);
        String key = parsed.matchedOptionValue("--tls-key", (String) null);
        String kind = parsed.matchedOptionValue("--tls", (String) null);
        if (kind != null) {
            if (!kind.equals(SELF_SIGNED)) {
                throw new UsageException("--tls must be " + SELF_SIGNED + ", not " + kind
                        + "; for a certificate of your own, give --tls-cert and --tls-key");
            }
            if (certificate != null || key != null) {
                throw new UsageException("give either --tls " + SELF_SIGNED + ", or --tls-cert and --tls-key");
            }
            return new Encryption(null, null);
        }
        if (certificate == null && key == null) {
            return null;
        }
        if (certificate == null || key == null) {
            throw new UsageException("--tls-cert and --tls-key belong together; "
                    + (key == null ? "--tls-key" : "--tls-cert") + " is missing");
        }
        return new Encryption(Path.of(certificate), Path.of(key));
    }

    /**
     * What a server uses.
     *
     * @param note to be printed; null if there is nothing to say
     * @param lasting whether its files stay, so that they can change
     */
    record Made(Tls tls, @Nullable String note, boolean lasting) {}

    Made make() throws IOException {
        return certificate != null && key != null
                ? new Made(Tls.server(certificate, key), null, true)
                : makeSelfSigned();
    }

    // ---- Self-signed ----

    private static Made makeSelfSigned() throws IOException {
        Path directory = Files.createTempDirectory("millrace-tls"); // for this user only
        Path store = directory.resolve("store.p12");
        Path chain = directory.resolve("chain.pem");
        Path secret = directory.resolve("key.pem");
        try {
            char[] password = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256")
                            .digest(new java.security.SecureRandom().generateSeed(32)))
                    .toCharArray();
            keytool(store, password);
            KeyStore made = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                made.load(in, password);
            }
            Certificate own = made.getCertificate("millrace");
            Files.writeString(chain, pem("CERTIFICATE", own.getEncoded()));
            Files.writeString(
                    secret, pem("PRIVATE KEY", made.getKey("millrace", password).getEncoded()));
            String fingerprint = HexFormat.ofDelimiter(":")
                    .withUpperCase()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(own.getEncoded()));
            return new Made(
                    Tls.server(chain, secret),
                    "certificate for localhost, made for this run, valid for " + DAYS + " days; SHA-256 " + fingerprint,
                    false);
        } catch (GeneralSecurityException e) {
            throw new IOException("cannot make a certificate: " + e.getMessage(), e);
        } finally {
            for (Path file : List.of(store, chain, secret, directory)) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static void keytool(Path store, char[] password) throws IOException {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        ProcessBuilder command = new ProcessBuilder(
                keytool.toString(),
                "-genkeypair",
                "-alias",
                "millrace",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1,ip:0:0:0:0:0:0:0:1",
                "-validity",
                DAYS,
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass:env",
                "MILLRACE_STORE");
        command.environment().put("MILLRACE_STORE", new String(password));
        Process process = command.redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            } else if (process.exitValue() == 0) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
        throw new IOException("cannot make a certificate with " + keytool + ": " + said.strip()
                + "; give --tls-cert and --tls-key instead");
    }

    private static String pem(String type, byte[] der) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + type + "-----\n";
    }
}
