package io.millrace.server.secure;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the certificate of a handshake: on a server by the name that the client asks for, on a client by the
 * authorities that the server accepts. Its certificates never change; a reload makes another one.
 */
final class CertificateChooser extends X509ExtendedKeyManager {
    /** The type of names of hosts in a certificate. */
    private static final int DNS_NAME = 2;

    /** A certificate with its authorities, and its key. */
    record Entry(List<X509Certificate> chain, PrivateKey key) {}

    private final List<Entry> entries;
    private final List<List<String>> names = new ArrayList<>();

    CertificateChooser(List<Entry> entries) {
        this.entries = List.copyOf(entries);
        for (Entry each : entries) {
            names.add(names(each.chain().getFirst()));
        }
    }

    private static List<String> names(X509Certificate certificate) {
        List<String> names = new ArrayList<>();
        try {
            Collection<List<?>> all = certificate.getSubjectAlternativeNames();
            for (List<?> name : all == null ? List.<List<?>>of() : all) {
                if (name.get(0).equals(DNS_NAME)) {
                    names.add(name.get(1).toString().toLowerCase(Locale.ROOT));
                }
            }
        } catch (CertificateParsingException e) {
            return List.of(); // it fits no name
        }
        return names;
    }

    // ---- Servers ----

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        List<Integer> fitting = new ArrayList<>();
        if (engine != null && engine.getHandshakeSession() instanceof ExtendedSSLSession session) {
            for (SNIServerName asked : session.getRequestedServerNames()) {
                addFitting(new String(asked.getEncoded(), java.nio.charset.StandardCharsets.US_ASCII), fitting);
            }
        }
        if (fitting.isEmpty()) {
            addLikeFirst(fitting);
        }
        for (int i : fitting) {
            if (entries.get(i).key().getAlgorithm().equals(keyType)) {
                return String.valueOf(i);
            }
        }
        return null;
    }

    private void addFitting(String asked, List<Integer> to) {
        String name = asked.toLowerCase(Locale.ROOT);
        for (int i = 0; i < entries.size(); i++) {
            if (names.get(i).stream().anyMatch(own -> fits(own, name))) {
                to.add(i);
            }
        }
    }

    /** A wildcard stands for one label, the first one. */
    private static boolean fits(String own, String asked) {
        if (own.startsWith("*.")) {
            int dot = asked.indexOf('.');
            return dot > 0 && own.substring(1).equals(asked.substring(dot));
        }
        return own.equals(asked);
    }

    /** Adds the first one, and others for the same names, with another kind of key. */
    private void addLikeFirst(List<Integer> to) {
        for (int i = 0; i < entries.size(); i++) {
            if (i == 0 || names.get(i).equals(names.getFirst())) {
                to.add(i);
            }
        }
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return chooseEngineServerAlias(keyType, issuers, null);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return aliases(new String[] {keyType}, null);
    }

    // ---- Clients ----

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        String[] fitting = aliases(keyTypes, issuers);
        return fitting == null ? null : fitting[0];
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return chooseEngineClientAlias(keyTypes, issuers, null);
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return aliases(new String[] {keyType}, issuers);
    }

    private String @Nullable [] aliases(String[] keyTypes, Principal @Nullable [] issuers) {
        List<String> fitting = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (Arrays.asList(keyTypes).contains(entry.key().getAlgorithm()) && isIssuedBy(entry, issuers)) {
                fitting.add(String.valueOf(i));
            }
        }
        return fitting.isEmpty() ? null : fitting.toArray(String[]::new);
    }

    private static boolean isIssuedBy(Entry entry, Principal @Nullable [] issuers) {
        return issuers == null
                || issuers.length == 0
                || entry.chain().stream()
                        .anyMatch(each -> Arrays.asList(issuers).contains(each.getIssuerX500Principal()));
    }

    // ---- Both ----

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return entries.get(Integer.parseInt(alias)).chain().toArray(X509Certificate[]::new);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return entries.get(Integer.parseInt(alias)).key();
    }
}
