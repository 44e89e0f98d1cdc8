package io.millrace.server.secure;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Our end of a TLS connection on a loop and a transport of a test, and the JDK's engine as the other end. */
final class TlsEnds {
    private static final InetSocketAddress TARGET = InetSocketAddress.createUnresolved("localhost", 443);

    final OneThreadLoop loop;
    final ScriptedTransport raw;
    final RecordingSink sink;
    final TlsTransport tls;
    final EnginePeer peer;

    /** @param server whether our end is the server */
    TlsEnds(OneThreadLoop loop, boolean server, String version, TlsSettings settings, RecordingSink sink)
            throws IOException {
        this.loop = loop;
        this.sink = sink;
        this.raw = new ScriptedTransport(loop);
        this.tls = new TlsTransport(
                loop, sink, InetSocketAddress.createUnresolved("peer", 1), 16 * 1024, settings, server ? null : TARGET);
        this.peer = new EnginePeer(server, version);
        raw.above = tls;
        tls.carry(raw);
    }

    static TlsEnds of(boolean server, String version) throws IOException {
        return of(server, version, new RecordingSink());
    }

    static TlsEnds of(boolean server, String version, RecordingSink sink) throws IOException {
        TlsSettings settings = server ? TestKeys.SHARED.server(version) : TestKeys.SHARED.client(version);
        return new TlsEnds(new OneThreadLoop(), server, version, settings, sink);
    }

    /** Completes the handshake. */
    TlsEnds shakeHands() throws IOException {
        tls.onConnected();
        loop.run();
        byte[] next = peer.engine.getUseClientMode() ? peer.begin() : peer.take(raw.takeSent());
        while (next.length > 0) {
            raw.arrive(next);
            loop.run();
            next = peer.take(raw.takeSent());
        }
        if (sink.connected != 1) {
            throw new AssertionError("no handshake: " + sink);
        }
        return this;
    }

    /** The peer sends data. */
    void receive(byte[] data) throws IOException {
        raw.arrive(peer.encrypt(data));
        loop.run();
    }

    boolean send(byte[] data) throws IOException {
        return tls.send(ByteBuffer.wrap(data));
    }
}
