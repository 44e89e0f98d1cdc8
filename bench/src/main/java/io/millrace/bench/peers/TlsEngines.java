package io.millrace.bench.peers;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * What an {@link SSLEngine} of the JDK weighs by itself: holds as many as it is told, each of a server that has shaken hands over TLS 1.3 and echoed one message of 64 bytes,
 * in memory, without a socket or a buffer. Prints {@code {"messages":COUNT,"heapBytes":BYTES}}, the heap after full collections less the one before, for each.
 *
 * <p>{@code --count N --cert FILE --key FILE}
 */
public final class TlsEngines {
    private static final int MESSAGE = 64;

    private TlsEngines() {}

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        String usage = "TlsEngines --count N --cert FILE --key FILE";
        Options options = new Options(arguments, usage, "--count", "--cert", "--key");
        int count = (int) options.number("--count", 5_000, 1, 1_000_000);
        SSLContext server = server(Path.of(options.text("--cert", "")), Path.of(options.text("--key", "")));
        List<SSLEngine> held = new ArrayList<>(count);
        open(server); // what the first one makes is not each one's
        long before = heap();
        for (int i = 0; i < count; i++) {
            held.add(open(server));
        }
        long after = heap();
        System.out.println(new Json().add("messages", held.size()).add("heapBytes", (after - before) / (double) count));
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** The client's context is new each time, so that nothing of it stays and nothing is resumed. */
    private static SSLEngine open(SSLContext context) throws IOException, GeneralSecurityException {
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, new TrustManager[] {new TrustsAll()}, null);
        SSLEngine client = trusting.createSSLEngine();
        client.setUseClientMode(true);
        SSLEngine server = context.createSSLEngine();
        server.setUseClientMode(false);
        for (SSLEngine engine : List.of(client, server)) {
            engine.setEnabledProtocols(new String[] {"TLSv1.3"});
            engine.setEnabledCipherSuites(new String[] {"TLS_AES_128_GCM_SHA256"});
            engine.beginHandshake();
        }
        ByteBuffer toServer = ByteBuffer.allocate(64 << 10).flip();
        ByteBuffer toClient = ByteBuffer.allocate(64 << 10).flip();
        ByteBuffer message = ByteBuffer.allocate(32 << 10);
        // Shakes hands; the ticket comes with it.
        for (int i = 0; i < 20; i++) {
            step(client, toServer, toClient, ByteBuffer.allocate(0), message.clear());
            step(server, toClient, toServer, ByteBuffer.allocate(0), message.clear());
        }
        message.clear();
        step(client, toServer, toClient, ByteBuffer.allocate(MESSAGE), ByteBuffer.allocate(32 << 10));
        step(server, toClient, toServer, ByteBuffer.allocate(0), message);
        if (message.position() != MESSAGE) {
            throw new IOException("the message did not arrive: " + message + ", " + server.getHandshakeStatus());
        }
        step(server, toClient, toServer, message.flip(), ByteBuffer.allocate(32 << 10));
        return server;
    }

    /** Takes in what came, and gives out what the engine and the application have to say. */
    private static void step(SSLEngine engine, ByteBuffer out, ByteBuffer in, ByteBuffer source, ByteBuffer target)
            throws IOException {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                task.run();
                moved = true;
            }
            if (in.hasRemaining()) {
                SSLEngineResult result = engine.unwrap(in, target);
                moved |= result.bytesConsumed() > 0;
            }
            boolean says = engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP;
            if (says || source.hasRemaining()) {
                out.compact();
                SSLEngineResult result = engine.wrap(source, out);
                out.flip();
                moved |= result.bytesProduced() > 0;
            }
        }
    }

    /** A context with one certificate, from PEM files. */
    public static SSLContext server(Path chain, Path key) throws IOException, GeneralSecurityException {
        X509Certificate certificate;
        try (var in = Files.newInputStream(chain)) {
            certificate =
                    (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
        String pem = Files.readString(key).replaceAll("-----[A-Z ]+-----|\\s", "");
        PrivateKey secret = KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("own", secret, new char[0], new Certificate[] {certificate});
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    /** It is the server's engine that is weighed. */
    private static final class TrustsAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
