package io.millrace.server.secure;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/** The other end: a bare engine of the JDK, and the bytes that it gets and makes. */
final class EnginePeer {
    final SSLEngine engine;
    final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private final ByteBuffer packet = ByteBuffer.allocate(40_000);
    private final ByteBuffer plain = ByteBuffer.allocate(40_000);
    private byte[] pending = new byte[0];
    boolean ended;

    EnginePeer(boolean client, String version) {
        engine = client
                ? TestKeys.SHARED.context.createSSLEngine("localhost", 443)
                : TestKeys.SHARED.context.createSSLEngine();
        engine.setUseClientMode(client);
        engine.setEnabledProtocols(new String[] {version});
    }

    /** Takes what arrived, and returns what it answers. */
    byte[] take(byte[] bytes) throws SSLException {
        byte[] all = new byte[pending.length + bytes.length];
        System.arraycopy(pending, 0, all, 0, pending.length);
        System.arraycopy(bytes, 0, all, pending.length, bytes.length);
        ByteBuffer in = ByteBuffer.wrap(all);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        answer(out);
        boolean more = true;
        while (more && in.hasRemaining()) {
            SSLEngineResult result = engine.unwrap(in, plain.clear());
            received.write(plain.array(), 0, plain.position());
            more = result.getStatus() == SSLEngineResult.Status.OK;
            ended |= result.getStatus() == SSLEngineResult.Status.CLOSED;
            answer(out);
        }
        pending = new byte[in.remaining()];
        in.get(pending);
        return out.toByteArray();
    }

    private void answer(ByteArrayOutputStream out) throws SSLException {
        for (; ; ) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> {
                    for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                        task.run();
                    }
                }
                case NEED_WRAP -> {
                    SSLEngineResult result = engine.wrap(ByteBuffer.allocate(0), packet.clear());
                    out.write(packet.array(), 0, packet.position());
                    if (result.getStatus() != SSLEngineResult.Status.OK) {
                        return;
                    }
                }
                default -> {
                    return;
                }
            }
        }
    }

    byte[] begin() throws SSLException {
        engine.beginHandshake();
        return take(new byte[0]);
    }

    /** Encrypts some data, in records of at most 16 KiB. */
    byte[] encrypt(byte[] data) throws SSLException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteBuffer from = ByteBuffer.wrap(data);
        do {
            engine.wrap(from, packet.clear());
            out.write(packet.array(), 0, packet.position());
        } while (from.hasRemaining());
        return out.toByteArray();
    }

    /** Has it say that no more follows. */
    byte[] close() throws SSLException {
        engine.closeOutbound();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < 4 && !engine.isOutboundDone(); i++) {
            engine.wrap(ByteBuffer.allocate(0), packet.clear());
            out.write(packet.array(), 0, packet.position());
        }
        return out.toByteArray();
    }

    /** With TLS 1.3: has it update its keys, and ask for ours. */
    byte[] updateKeys() throws SSLException {
        engine.beginHandshake();
        return take(new byte[0]);
    }
}
