package io.millrace.server.direct;

import io.millrace.server.DirectSocket;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Objects;

/** A socket as streams. */
public final class SocketStreams {
    private SocketStreams() {}

    /** Its input. */
    public static final class Input extends InputStream {
        private final DirectSocket socket;
        private final byte[] one = new byte[1];

        public Input(DirectSocket socket) {
            this.socket = socket;
        }

        @Override
        public int read() throws IOException {
            return socket.read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            return socket.read(target, offset, length);
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    /** Its output. */
    public static final class Output extends OutputStream {
        private final DirectSocket socket;

        public Output(DirectSocket socket) {
            this.socket = socket;
        }

        @Override
        public void write(int one) throws IOException {
            socket.write(new byte[] {(byte) one});
        }

        @Override
        public void write(byte[] data, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, data.length);
            socket.write(data, offset, length);
        }

        @Override
        public void close() {
            socket.close();
        }
    }
}
