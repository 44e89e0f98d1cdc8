package io.millrace.bench;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Locale;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;

/**
 * What a record costs the JDK's engine with heap and with direct buffers: wrap on one side and unwrap on the other, TLS
 * 1.3, in rounds that alternate. And what it costs to decrypt where a system call has put it, which is a direct buffer, or
 * to copy it to the heap before. Figures of decision 34: {@code java
 * bench/src/main/java/io/millrace/bench/TlsBuffers.java [rounds]}.
 */
public final class TlsBuffers {
    private static final char[] PASSWORD = "secret".toCharArray();
    private static final int ROOM = 40_000;

    /** The processor's time, not the clock's: others may run on the machine. */
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

    private TlsBuffers() {}

    /**
     * Measures and prints.
     *
     * @param args how many rounds; 11 if absent
     * @throws Exception if no certificate can be made
     */
    public static void main(String[] args) throws Exception {
        int rounds = args.length == 0 ? 11 : Integer.parseInt(args[0]);
        SSLContext context = context();
        for (int size : new int[] {64, 1024, 16 * 1024}) {
            int records = size > 1024 ? 20_000 : 60_000;
            compare(size, records, rounds, new Pair(context, Kind.HEAP), new Pair(context, Kind.DIRECT));
            compare(size, records, rounds, new Pair(context, Kind.AS_READ), new Pair(context, Kind.COPIED));
        }
    }

    /** Where the bytes are. */
    private enum Kind {
        HEAP,
        DIRECT,
        /** On the heap, but what is received is decrypted in a direct buffer. */
        AS_READ,
        /** On the heap; what is received in a direct buffer is copied to the heap. */
        COPIED
    }

    private static void compare(int size, int records, int rounds, Pair one, Pair other) throws SSLException {
        double[][] nanos = new double[2][rounds];
        one.run(size, records);
        other.run(size, records);
        for (int i = 0; i < rounds; i++) {
            nanos[0][i] = one.run(size, records);
            nanos[1][i] = other.run(size, records);
        }
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            ratios[i] = nanos[1][i] / nanos[0][i];
        }
        System.out.printf(
                Locale.ROOT,
                "%5d B: %s %s us, %s %s us, ratio %s%n",
                size,
                one.kind,
                spread(nanos[0], 1000),
                other.kind,
                spread(nanos[1], 1000),
                spread(ratios, 1));
    }

    private static String spread(double[] values, double unit) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return String.format(
                Locale.ROOT,
                "%.2f (%.2f-%.2f)",
                sorted[sorted.length / 2] / unit,
                sorted[0] / unit,
                sorted[sorted.length - 1] / unit);
    }

    private static final class Pair {
        private final SSLEngine client;
        private final SSLEngine server;
        private final Kind kind;
        private final ByteBuffer plain;
        private final ByteBuffer packet;
        private final ByteBuffer received = ByteBuffer.allocateDirect(ROOM);
        private final ByteBuffer copy = ByteBuffer.allocate(ROOM);
        private final ByteBuffer result;

        Pair(SSLContext context, Kind kind) throws SSLException {
            this.kind = kind;
            boolean direct = kind == Kind.DIRECT;
            client = context.createSSLEngine("localhost", 1);
            client.setUseClientMode(true);
            client.setEnabledProtocols(new String[] {"TLSv1.3"});
            server = context.createSSLEngine();
            server.setUseClientMode(false);
            plain = make(direct);
            packet = make(direct);
            result = make(direct);
            shakeHands();
        }

        private static ByteBuffer make(boolean direct) {
            return direct ? ByteBuffer.allocateDirect(ROOM) : ByteBuffer.allocate(ROOM);
        }

        private void shakeHands() throws SSLException {
            ByteBuffer toServer = ByteBuffer.allocate(2 * ROOM).flip();
            ByteBuffer toClient = ByteBuffer.allocate(2 * ROOM).flip();
            client.beginHandshake();
            server.beginHandshake();
            boolean moved = true;
            while (moved) {
                moved = step(client, toServer, toClient);
                moved |= step(server, toClient, toServer);
            }
        }

        private static boolean step(SSLEngine engine, ByteBuffer out, ByteBuffer in) throws SSLException {
            HandshakeStatus status = engine.getHandshakeStatus();
            if (status == HandshakeStatus.NEED_TASK) {
                for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                    task.run();
                }
                return true;
            }
            if (status == HandshakeStatus.NEED_WRAP) {
                out.compact();
                engine.wrap(ByteBuffer.allocate(0), out);
                out.flip();
                return true;
            }
            if (in.hasRemaining()) {
                engine.unwrap(in, ByteBuffer.allocate(ROOM));
                return true;
            }
            return false;
        }

        /** Returns nanoseconds of the processor per record. */
        double run(int size, int records) throws SSLException {
            long begin = CPU.getCurrentThreadCpuTime();
            for (int i = 0; i < records; i++) {
                client.wrap(plain.clear().limit(size), packet.clear());
                packet.flip();
                server.unwrap(
                        switch (kind) {
                            case HEAP, DIRECT -> packet;
                            case AS_READ -> received.clear().put(packet).flip();
                            case COPIED ->
                                copy.clear()
                                        .put(received.clear().put(packet).flip())
                                        .flip();
                        },
                        result.clear());
            }
            double nanos = (double) (CPU.getCurrentThreadCpuTime() - begin) / records;
            if (result.position() == 0) {
                throw new IllegalStateException("nothing was decrypted");
            }
            return nanos;
        }
    }

    private static SSLContext context() throws IOException, InterruptedException, GeneralSecurityException {
        Path directory = Files.createTempDirectory("millrace-tls");
        Path store = directory.resolve("store.p12");
        try {
            int status = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    .toString(),
                            "-genkeypair",
                            "-alias",
                            "own",
                            "-keyalg",
                            "EC",
                            "-dname",
                            "CN=localhost",
                            "-keystore",
                            store.toString(),
                            "-storetype",
                            "PKCS12",
                            "-storepass",
                            new String(PASSWORD))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new IOException("keytool failed");
            }
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD);
            }
            KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
            own.init(keys, PASSWORD);
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("own", keys.getCertificate("own"));
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
            return context;
        } finally {
            Files.deleteIfExists(store);
            Files.deleteIfExists(directory);
        }
    }
}
