package io.millrace.server.secure;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECKey;
import java.security.interfaces.RSAKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Certificates and private keys in PEM files, as openssl and certificate authorities write them. Every failure names
 * the file, says what it holds instead, and what to do.
 */
final class PemFile {
    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \\1-----", Pattern.DOTALL);

    /** Files of this kind have some KiB. */
    private static final long LARGEST = 16 << 20;

    private static final Map<String, String> KEY_TYPES = Map.of(
            "1.2.840.113549.1.1.1", "RSA",
            "1.2.840.113549.1.1.10", "RSASSA-PSS",
            "1.2.840.10045.2.1", "EC",
            "1.3.101.112", "EdDSA",
            "1.3.101.113", "EdDSA");

    private static final byte[] RSA_OID = {0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1
    };
    private static final byte[] EC_OID = {0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x02, 0x01};
    private static final byte[] NULL = {0x05, 0x00};

    private PemFile() {}

    /** Reads a certificate and its key, and checks that they belong together. */
    static CertificateChooser.Entry entry(Path chainFile, Path keyFile, char @Nullable [] passphrase)
            throws IOException {
        List<X509Certificate> chain = certificates(chainFile);
        PrivateKey key = key(keyFile, passphrase);
        if (!belong(keyFile, chain.getFirst().getPublicKey(), key)) {
            throw cannotUse(
                    keyFile,
                    "it is not the key of the first certificate in " + chainFile + " ("
                            + chain.getFirst().getSubjectX500Principal()
                            + "); put the server's certificate first, and give the key that it was made for");
        }
        return new CertificateChooser.Entry(chain, key);
    }

    /** Reads all certificates of a file. */
    static List<X509Certificate> certificates(Path file) throws IOException {
        List<X509Certificate> found = new ArrayList<>();
        List<String> others = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(read(file));
        while (blocks.find()) {
            String type = blocks.group(1);
            if (type.equals("CERTIFICATE") || type.equals("X509 CERTIFICATE") || type.equals("TRUSTED CERTIFICATE")) {
                byte[] der = decode(file, blocks.group(2));
                try {
                    found.add((X509Certificate)
                            CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der)));
                } catch (CertificateException e) {
                    throw cannotUse(
                            file, "its certificate number " + (found.size() + 1) + " is broken: " + e.getMessage(), e);
                }
            } else {
                others.add(type);
            }
        }
        if (found.isEmpty()) {
            throw cannotUse(
                    file,
                    others.isEmpty()
                            ? "it holds no certificate in PEM; if it is DER, convert it with openssl x509 -inform DER -in "
                                    + file + " -out chain.pem"
                            : "it holds no certificate, but " + String.join(", ", others));
        }
        return found;
    }

    /** Reads the first private key of a file. */
    static PrivateKey key(Path file, char @Nullable [] passphrase) throws IOException {
        List<String> others = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(read(file));
        while (blocks.find()) {
            String type = blocks.group(1);
            String body = blocks.group(2);
            if (!type.endsWith("PRIVATE KEY")) {
                others.add(type); // such as the parameters that openssl puts before a key
                continue;
            }
            if (body.contains("Proc-Type: 4,ENCRYPTED")) {
                throw cannotUse(
                        file,
                        "it holds a key in the old encrypted format of OpenSSL; convert it with openssl pkey -in "
                                + file + " -out key.pem");
            }
            byte[] der = decode(file, body);
            return switch (type) {
                case "PRIVATE KEY" -> pkcs8(file, der);
                case "RSA PRIVATE KEY" -> pkcs8(file, wrap(concat(RSA_OID, NULL), der));
                case "EC PRIVATE KEY" -> pkcs8(file, wrap(concat(EC_OID, curve(file, der)), der));
                case "ENCRYPTED PRIVATE KEY" -> pkcs8(file, decrypt(file, der, passphrase));
                default ->
                    throw cannotUse(
                            file,
                            "it holds a key of the unknown kind " + type + "; convert it with openssl pkey -in " + file
                                    + " -out key.pem");
            };
        }
        throw cannotUse(
                file,
                others.isEmpty()
                        ? "it holds no private key in PEM; if it is DER, convert it with openssl pkey -inform DER -in "
                                + file + " -out key.pem"
                        : "it holds no private key, but " + String.join(", ", others));
    }

    private static String read(Path file) throws IOException {
        try {
            if (Files.size(file) <= LARGEST) {
                return Files.readString(file, StandardCharsets.ISO_8859_1);
            }
        } catch (NoSuchFileException e) {
            throw cannotUse(file, "there is no such file", e);
        } catch (java.nio.file.AccessDeniedException e) {
            throw cannotUse(file, "this process may not read it", e);
        } catch (IOException e) {
            throw Files.isDirectory(file)
                    ? cannotUse(file, "it is a directory; give the file in it", e)
                    : cannotUse(file, "it cannot be read: " + e.getMessage(), e);
        }
        throw cannotUse(file, "it is larger than " + LARGEST + " bytes");
    }

    private static byte[] decode(Path file, String body) throws IOException {
        try {
            return Base64.getMimeDecoder().decode(body.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IllegalArgumentException e) {
            throw cannotUse(file, "its base 64 is broken: " + e.getMessage(), e);
        }
    }

    private static PrivateKey pkcs8(Path file, byte[] der) throws IOException {
        try {
            // SEQUENCE { INTEGER version, SEQUENCE { OBJECT IDENTIFIER type, ... }, OCTET STRING key }
            Der inside = new Der(der).sequence();
            inside.skip();
            String oid = inside.sequence().oid();
            String type = KEY_TYPES.get(oid);
            if (type == null) {
                throw cannotUse(file, "its key is of the kind " + oid + "; make one of RSA, EC or Ed25519");
            }
            return KeyFactory.getInstance(type).generatePrivate(new PKCS8EncodedKeySpec(der));
        } catch (GeneralSecurityException | IndexOutOfBoundsException e) {
            throw cannotUse(file, "its key is broken: " + e.getMessage(), e);
        }
    }

    private static byte[] decrypt(Path file, byte[] der, char @Nullable [] passphrase) throws IOException {
        if (passphrase == null) {
            throw cannotUse(
                    file,
                    "it holds an encrypted PKCS#8 key; give the passphrase, or decrypt it with openssl pkey -in " + file
                            + " -out key.pem");
        }
        try {
            EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(der);
            // The parameters of PBES2 name the whole scheme; those of older schemes have no such name.
            String scheme = info.getAlgName().contains("PBES2")
                    ? info.getAlgParameters().toString()
                    : info.getAlgName();
            PBEKeySpec spec = new PBEKeySpec(passphrase);
            try {
                Cipher cipher = Cipher.getInstance(scheme);
                cipher.init(
                        Cipher.DECRYPT_MODE,
                        SecretKeyFactory.getInstance(scheme).generateSecret(spec),
                        info.getAlgParameters());
                return info.getKeySpec(cipher).getEncoded();
            } finally {
                spec.clearPassword();
            }
        } catch (InvalidKeyException | java.security.spec.InvalidKeySpecException e) {
            throw cannotUse(file, "the passphrase does not decrypt its key", e);
        } catch (GeneralSecurityException | IOException e) {
            throw cannotUse(
                    file,
                    "its key is broken, or encrypted in a way that the JDK does not know (" + e.getMessage()
                            + "); decrypt it with openssl pkey -in " + file + " -out key.pem",
                    e);
        }
    }

    // ---- DER ----

    /** Reads the parts of an ASN.1 structure one after the other, as far as keys need it. */
    private static final class Der {
        private final byte[] bytes;
        private int at;
        private final int end;

        Der(byte[] bytes) {
            this(bytes, 0, bytes.length);
        }

        private Der(byte[] bytes, int from, int to) {
            this.bytes = bytes;
            this.at = from;
            this.end = to;
        }

        boolean hasMore() {
            return at < end;
        }

        int tag() {
            return bytes[at] & 0xff;
        }

        /** Enters a part of any kind, and leaves it behind. */
        Der enter() {
            at++;
            int length = bytes[at++] & 0xff;
            if (length > 127) {
                int count = length & 0x7f;
                length = 0;
                for (int i = 0; i < count; i++) {
                    length = length << 8 | (bytes[at++] & 0xff);
                }
            }
            if (length < 0 || at + length > end || at + length < at) {
                throw new IndexOutOfBoundsException("a part of its structure is longer than the whole");
            }
            Der inside = new Der(bytes, at, at + length);
            at += length;
            return inside;
        }

        void skip() {
            enter();
        }

        Der sequence() {
            if (tag() != 0x30) {
                throw new IndexOutOfBoundsException("its structure is not that of a key");
            }
            return enter();
        }

        byte[] rest() {
            byte[] rest = new byte[end - at];
            System.arraycopy(bytes, at, rest, 0, rest.length);
            return rest;
        }

        String oid() {
            if (tag() != 0x06) {
                throw new IndexOutOfBoundsException("its structure is not that of a key");
            }
            StringBuilder text = new StringBuilder();
            long value = 0;
            for (byte each : enter().rest()) {
                value = value << 7 | (each & 0x7f);
                if (each >= 0) {
                    if (text.isEmpty()) {
                        text.append(Math.min(value / 40, 2)).append('.').append(value - 40 * Math.min(value / 40, 2));
                    } else {
                        text.append('.').append(value);
                    }
                    value = 0;
                }
            }
            return text.toString();
        }
    }

    /** Returns which curve a SEC 1 key names: its part with the tag 0. */
    private static byte[] curve(Path file, byte[] der) throws IOException {
        try {
            Der inside = new Der(der).sequence();
            inside.skip();
            inside.skip();
            while (inside.hasMore()) {
                if (inside.tag() == 0xa0) {
                    return inside.enter().rest();
                }
                inside.skip();
            }
        } catch (IndexOutOfBoundsException e) {
            throw cannotUse(file, "its key is broken: " + e.getMessage(), e);
        }
        throw cannotUse(
                file, "its key does not name its curve; convert it with openssl pkey -in " + file + " -out key.pem");
    }

    /** Makes a PKCS#8 key of an older one. */
    private static byte[] wrap(byte[] algorithm, byte[] key) {
        byte[] version = {0x02, 0x01, 0x00};
        return part(0x30, concat(version, part(0x30, algorithm), part(0x04, key)));
    }

    private static byte[] part(int tag, byte[] content) {
        int length = content.length;
        byte[] head = length < 128
                ? new byte[] {(byte) tag, (byte) length}
                : length < 256
                        ? new byte[] {(byte) tag, (byte) 0x81, (byte) length}
                        : length < 65_536
                                ? new byte[] {(byte) tag, (byte) 0x82, (byte) (length >> 8), (byte) length}
                                : new byte[] {
                                    (byte) tag, (byte) 0x83, (byte) (length >> 16), (byte) (length >> 8), (byte) length
                                };
        return concat(head, content);
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] each : parts) {
            all.writeBytes(each);
        }
        return all.toByteArray();
    }

    // ---- Checks ----

    /** Signs something with the one and verifies it with the other. */
    private static boolean belong(Path keyFile, PublicKey certified, PrivateKey key) throws IOException {
        if (!certified.getAlgorithm().equals(key.getAlgorithm())) {
            return false;
        }
        if (certified instanceof RSAKey one && key instanceof RSAKey other) {
            return one.getModulus().equals(other.getModulus());
        }
        byte[] text = "belong together".getBytes(StandardCharsets.US_ASCII);
        Signature signature;
        byte[] signed;
        try {
            signature = Signature.getInstance(key instanceof ECKey ? "SHA256withECDSA" : key.getAlgorithm());
            signature.initSign(key);
            signature.update(text);
            signed = signature.sign();
        } catch (GeneralSecurityException e) {
            throw cannotUse(
                    keyFile,
                    "the JDK cannot sign with its key (" + e.getMessage()
                            + "); make one of RSA, Ed25519, or EC with the curve P-256, P-384 or P-521",
                    e);
        }
        try {
            signature.initVerify(certified);
            signature.update(text);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static IOException cannotUse(Path file, String why) {
        return new IOException("cannot use " + file + ": " + why);
    }

    private static IOException cannotUse(Path file, String why, Exception cause) {
        return new IOException("cannot use " + file + ": " + why, cause);
    }
}
