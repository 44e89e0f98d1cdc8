package io.millrace.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.millrace.server.FrameBytes;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;

/**
 * A framing of one's own: {@code 5:hello,} is the frame {@code hello}.
 *
 * @param maxBytes the longest netstring, with its length and its comma
 */
public record Netstrings(int maxBytes) implements Framing {
    @Override
    public void find(FrameBytes bytes) throws ProtocolException {
        long length = 0;
        for (int i = 0; i < Math.min(bytes.size(), 10); i++) {
            byte next = bytes.get(i);
            if (next == ':') {
                bytes.frame(i + 1, i + 1 + length, i + 2 + length);
                return;
            }
            if (next < '0' || next > '9') {
                throw new ProtocolException("a netstring begins with its length, not with byte " + next);
            }
            length = 10 * length + next - '0';
        }
    }

    @Override
    public ByteBuffer encode(ByteBuffer frame) {
        byte[] length = (frame.remaining() + ":").getBytes(US_ASCII);
        return ByteBuffer.allocate(length.length + frame.remaining() + 1)
                .put(length)
                .put(frame.duplicate())
                .put((byte) ',')
                .flip();
    }

    /**
     * Sends every netstring back, until somebody presses Enter.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        Framing netstrings = new Netstrings(1024);
        try (TcpServer server = TcpServer.listen(
                port, netstrings.frames((connection, frame) -> connection.send(netstrings.encode(frame))))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
