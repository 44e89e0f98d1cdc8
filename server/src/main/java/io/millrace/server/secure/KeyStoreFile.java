package io.millrace.server.secure;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.UnrecoverableKeyException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Certificates and private keys in a key store of the JDK: PKCS#12 or JKS. Every failure names the file. */
final class KeyStoreFile {
    private KeyStoreFile() {}

    /** Reads all private keys with their certificates, in the order of their aliases. */
    static List<CertificateChooser.Entry> entries(Path file, char[] password) throws IOException {
        KeyStore store = open(file, password);
        List<CertificateChooser.Entry> found = new ArrayList<>();
        try {
            List<String> aliases = Collections.list(store.aliases());
            Collections.sort(aliases);
            for (String alias : aliases) {
                if (store.isKeyEntry(alias) && store.getKey(alias, password) instanceof PrivateKey key) {
                    Certificate[] certified = store.getCertificateChain(alias);
                    if (certified == null || certified.length == 0) {
                        throw cannotUse(
                                file,
                                "its key " + alias + " has no certificate there; export both into one store, as with"
                                        + " openssl pkcs12 -export -inkey key.pem -in chain.pem",
                                null);
                    }
                    List<X509Certificate> chain = new ArrayList<>();
                    for (Certificate each : certified) {
                        chain.add((X509Certificate) each);
                    }
                    found.add(new CertificateChooser.Entry(List.copyOf(chain), key));
                }
            }
            if (found.isEmpty()) {
                throw cannotUse(
                        file, "it holds no private key, but " + aliases.size() + " other entries " + aliases, null);
            }
        } catch (UnrecoverableKeyException e) {
            throw cannotUse(file, "a key in it has another password than the store; give it the same", e);
        } catch (GeneralSecurityException | ClassCastException e) {
            throw cannotUse(file, "it cannot be read: " + e.getMessage(), e);
        }
        return found;
    }

    private static KeyStore open(Path file, char[] password) throws IOException {
        try {
            if (Files.isDirectory(file)) {
                throw cannotUse(file, "it is a directory; give the file in it", null);
            }
            if (!Files.isReadable(file)) {
                throw Files.exists(file)
                        ? new AccessDeniedException(file.toString())
                        : new NoSuchFileException(file.toString());
            }
            return KeyStore.getInstance(file.toFile(), password);
        } catch (NoSuchFileException e) {
            throw cannotUse(file, "there is no such file", e);
        } catch (AccessDeniedException e) {
            throw cannotUse(file, "this process may not read it", e);
        } catch (KeyStoreException e) {
            throw cannotUse(file, "it is no key store in PKCS#12 or JKS; if it is PEM, use certificate(chain, key)", e);
        } catch (IOException e) {
            throw e.getCause() instanceof UnrecoverableKeyException
                    ? cannotUse(file, "the password does not open it", e)
                    : cannotUse(file, "it cannot be read: " + e.getMessage(), e);
        } catch (GeneralSecurityException e) {
            throw cannotUse(file, "it cannot be read: " + e.getMessage(), e);
        }
    }

    private static IOException cannotUse(Path file, String why, @Nullable Exception cause) {
        return new IOException("cannot use " + file + ": " + why, cause);
    }
}
