package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("tls-1: certificates and keys in PEM, as they are found, and what is said of those that cannot be used")
class PemTest {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    @TempDir
    Path directory;

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static String key(String alias) throws IOException {
        return Files.readString(CERTIFICATES.key(alias));
    }

    private void assertRefused(Path chain, Path key, String... reasons) {
        assertThatThrownBy(() -> Tls.server(chain, key))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot use " + directory)
                .hasMessageContainingAll(reasons);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ec", "rsa"})
    @DisplayName("tls-1: PKCS#8 keys of RSA and EC, with text around the blocks and Windows line ends")
    void pkcs8(String alias) throws Exception {
        Path key = write("key.pem", "Bag Attributes: none\n" + key(alias).replace("\n", "\r\n") + "\nsome text\n");
        Path chain = write("chain.pem", "subject=CN = x\n" + Files.readString(CERTIFICATES.chain(alias)));
        assertThat(Tls.server(chain, key).expiry()).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ec", "rsa"})
    @DisplayName("tls-1: the older formats of OpenSSL, PKCS#1 and SEC 1, also behind the parameters of a curve")
    void olderFormats(String alias) throws Exception {
        OpenSsl.require();
        Path old = directory.resolve("old.pem");
        OpenSsl.run("pkey", "-in", CERTIFICATES.key(alias).toString(), "-traditional", "-out", old.toString());
        assertThat(Files.readString(old))
                .contains(alias.equals("ec") ? "BEGIN EC PRIVATE KEY" : "BEGIN RSA PRIVATE KEY");
        assertThat(Tls.server(CERTIFICATES.chain(alias), old).expiry()).isPresent();
        Path behind = write(
                "behind.pem",
                "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
                        + Files.readString(old));
        assertThat(Tls.server(CERTIFICATES.chain(alias), behind).expiry()).isPresent();
    }

    @Test
    @DisplayName("tls-1: an encrypted key needs its passphrase; without, the message says how to decrypt it")
    void encrypted() throws Exception {
        OpenSsl.require();
        Path encrypted = directory.resolve("encrypted.pem");
        OpenSsl.run(
                "pkcs8",
                "-topk8",
                "-in",
                CERTIFICATES.key("rsa").toString(),
                "-passout",
                "pass:open sesame",
                "-out",
                encrypted.toString());
        Path chain = CERTIFICATES.chain("rsa");
        assertRefused(
                chain,
                encrypted,
                "it holds an encrypted PKCS#8 key; give the passphrase, or decrypt it with openssl pkey -in");
        assertThat(Tls.builder()
                        .certificate(chain, encrypted, "open sesame".toCharArray())
                        .build()
                        .expiry())
                .isPresent();
        assertThatThrownBy(() -> Tls.builder()
                        .certificate(chain, encrypted, "wrong".toCharArray())
                        .build())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the passphrase does not decrypt its key");
    }

    @Test
    @DisplayName("tls-1: a key that is not the certificate's, and an order that is wrong, are found out at the start")
    void wrongKey() throws Exception {
        Path other = write("other.key", key("other"));
        assertRefused(CERTIFICATES.chain("ec"), other, "it is not the key of the first certificate in", "CN=localhost");
        assertRefused(CERTIFICATES.chain("rsa"), other, "it is not the key");
        Path key = write("key.pem", key("ec"));
        Path turned = write(
                "chain.pem", Files.readString(CERTIFICATES.authority()) + Files.readString(CERTIFICATES.chain("ec")));
        assertRefused(turned, key, "put the server's certificate first");
    }

    @Test
    @DisplayName("tls-1: other files are refused, and the message names the file and what it holds")
    void otherFiles() throws Exception {
        Path chain = CERTIFICATES.chain("ec");
        Path key = CERTIFICATES.key("ec");
        assertRefused(directory.resolve("none.pem"), key, "none.pem: there is no such file");
        assertRefused(write("empty.pem", ""), key, "no certificate in PEM", "openssl x509 -inform DER");
        assertRefused(chain, write("empty.key", ""), "no private key in PEM", "openssl pkey -inform DER");
        assertRefused(write("swapped.pem", key("ec")), key, "it holds no certificate, but PRIVATE KEY");
        assertRefused(chain, write("swapped.key", Files.readString(chain)), "it holds no private key, but CERTIFICATE");
        assertRefused(
                write("broken.pem", TestCertificates.pem("CERTIFICATE", new byte[] {1, 2, 3})),
                key,
                "its certificate number 1 is broken");
        assertRefused(
                chain,
                write("broken.key", TestCertificates.pem("PRIVATE KEY", new byte[] {1, 2, 3})),
                "its key is broken");
        assertRefused(
                chain,
                write(
                        "old.key",
                        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"),
                "the old encrypted format of OpenSSL",
                "openssl pkey");
        assertRefused(
                chain,
                write("ssh.key", TestCertificates.pem("OPENSSH PRIVATE KEY", new byte[3])),
                "OPENSSH PRIVATE KEY");
    }

    private void assertRefused(Tls.Builder settings, Path named, String reason) {
        assertThatThrownBy(settings::build)
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot use " + named + ": ")
                .hasMessageContaining(reason);
    }

    @Test
    @DisplayName("tls-1: a directory is refused as what it is, wherever a file was expected")
    void directories() {
        Path chain = CERTIFICATES.chain("ec");
        Path key = CERTIFICATES.key("ec");
        char[] password = "secret".toCharArray();
        assertRefused(Tls.builder().certificate(directory, key), directory, "it is a directory");
        assertRefused(Tls.builder().certificate(chain, directory), directory, "it is a directory");
        assertRefused(Tls.builder().trust(directory), directory, "it is a directory");
        assertRefused(Tls.builder().keyStore(directory, password), directory, "it is a directory");
    }

    @Test
    @DisplayName("tls-1: an encrypted key that is broken, or that the JDK cannot decrypt, is refused with the remedy")
    void encryptedOtherwise() throws Exception {
        Path chain = CERTIFICATES.chain("rsa");
        char[] passphrase = "open sesame".toCharArray();
        Path broken = write("broken.key", TestCertificates.pem("ENCRYPTED PRIVATE KEY", new byte[] {0x30, 3, 2, 1, 0}));
        assertRefused(Tls.builder().certificate(chain, broken, passphrase), broken, "decrypt it with openssl pkey -in");
        OpenSsl.require();
        Path scrypt = directory.resolve("scrypt.key");
        OpenSsl.run(
                "pkcs8",
                "-topk8",
                "-scrypt",
                "-in",
                CERTIFICATES.key("rsa").toString(),
                "-passout",
                "pass:open sesame",
                "-out",
                scrypt.toString());
        assertRefused(Tls.builder().certificate(chain, scrypt, passphrase), scrypt, "decrypt it with openssl pkey -in");
    }

    @Test
    @DisplayName("tls-1: a key on a curve that the JDK does not have is refused as that, and not as another's key")
    void unknownCurve() throws Exception {
        OpenSsl.require();
        Path key = directory.resolve("curve.key");
        Path chain = directory.resolve("curve.pem");
        OpenSsl.run(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:secp256k1",
                "-nodes",
                "-subj",
                "/CN=localhost",
                "-keyout",
                key.toString(),
                "-out",
                chain.toString());
        assertRefused(Tls.builder().certificate(chain, key), key, "the JDK cannot sign with its key");
    }

    @Test
    @DisplayName("tls-1: a key store with a key but not its certificate is refused, and the key is named")
    void keyWithoutCertificate() throws Exception {
        OpenSsl.require();
        Path store = directory.resolve("key.p12");
        OpenSsl.run(
                "pkcs12",
                "-export",
                "-nocerts",
                "-name",
                "lonely",
                "-inkey",
                CERTIFICATES.key("ec").toString(),
                "-passout",
                "pass:secret",
                "-out",
                store.toString());
        assertRefused(
                Tls.builder().keyStore(store, "secret".toCharArray()),
                store,
                "its key lonely has no certificate there");
    }

    @Test
    @DisplayName("tls-1: a key store has certificates and keys in one file; one that cannot be used is refused")
    void keyStore() throws Exception {
        char[] password = "secret".toCharArray();
        CERTIFICATES.chain("ec");
        Path store = CERTIFICATES.store();
        Tls tls = Tls.builder().keyStore(store, password).build();
        assertThat(tls.files()).containsExactly(store);
        assertThat(tls.expiry()).isPresent();
        tls.reload();
        Path pem = write("chain.pem", Files.readString(CERTIFICATES.chain("ec")));
        Path cut = directory.resolve("cut.p12");
        Files.write(cut, java.util.Arrays.copyOf(Files.readAllBytes(store), 300));
        assertStoreRefused(store, "wrong".toCharArray(), "the password does not open it");
        assertStoreRefused(pem, password, "it is no key store", "certificate(chain, key)");
        assertStoreRefused(cut, password, "cannot use " + cut);
        assertStoreRefused(directory.resolve("none.p12"), password, "there is no such file");
        Path empty = directory.resolve("empty.p12");
        java.security.KeyStore nothing = java.security.KeyStore.getInstance("PKCS12");
        nothing.load(null, null);
        try (var out = Files.newOutputStream(empty)) {
            nothing.store(out, password);
        }
        assertStoreRefused(empty, password, "it holds no private key");
    }

    private static void assertStoreRefused(Path store, char[] password, String... reasons) {
        assertThatThrownBy(() -> Tls.builder().keyStore(store, password).build())
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot use " + store)
                .hasMessageContainingAll(reasons);
    }

    @Test
    @DisplayName("tls-1: no key that is cut off or changed at any byte does more than be refused")
    void everyBrokenKey() throws Exception {
        String whole = key("ec");
        for (int end = 0; end < whole.length() - 30; end++) {
            Path cut = write("cut.pem", whole.substring(0, end) + "\n-----END PRIVATE KEY-----\n");
            assertThatThrownBy(() -> Tls.server(CERTIFICATES.chain("ec"), cut)).isInstanceOf(IOException.class);
        }
        byte[] der = java.util.Base64.getMimeDecoder().decode(whole.replaceAll("-----.*?-----", ""));
        for (int i = 0; i < der.length; i++) {
            byte[] changed = der.clone();
            changed[i] ^= 0x55;
            Path file =
                    write("changed.pem", TestCertificates.pem(i % 2 == 0 ? "PRIVATE KEY" : "EC PRIVATE KEY", changed));
            try {
                Tls.server(CERTIFICATES.chain("ec"), file);
            } catch (IOException e) {
                assertThat(e).hasMessageStartingWith("cannot use");
            }
        }
    }
}
