package io.millrace.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.net.ProtocolException;
import java.nio.ByteBuffer;

/** Framings as users write them. */
final class OwnFramings {
    private OwnFramings() {}

    /** {@code 5:hello,}. */
    record Netstrings(int maxBytes) implements Framing {
        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            long length = 0;
            for (int i = 0; i < bytes.size(); i++) {
                byte digit = bytes.get(i);
                if (digit == ':') {
                    bytes.frame(i + 1, i + 1 + length, i + 2 + length);
                    return;
                }
                if (digit < '0' || digit > '9') {
                    throw new ProtocolException("a netstring begins with digits, not " + digit);
                }
                length = 10 * length + digit - '0';
            }
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            byte[] head = (frame.remaining() + ":").getBytes(US_ASCII);
            return ByteBuffer.allocate(head.length + frame.remaining() + 1)
                    .put(head)
                    .put(frame.duplicate())
                    .put((byte) ',')
                    .flip();
        }
    }

    /** A number of lines, and then these: {@code 2\none\ntwo\n}. Remembers how far it has come. */
    static final class Paragraphs implements Framing {
        private static final byte[] LF = {'\n'};

        private int at;
        private int lines;

        @Override
        public int maxBytes() {
            return 64;
        }

        @Override
        public Framing forConnection() {
            return new Paragraphs();
        }

        @Override
        public void find(FrameBytes bytes) throws ProtocolException {
            int end = bytes.indexOf(LF, at);
            while (end >= 0) {
                if (at == 0) {
                    lines = bytes.get(0) - '0';
                } else {
                    lines--;
                }
                at = end + 1;
                if (lines == 0) {
                    bytes.frame(2, at, at);
                    at = 0;
                    return;
                }
                end = bytes.indexOf(LF, at);
            }
        }

        @Override
        public ByteBuffer encode(ByteBuffer frame) {
            int count = 0;
            for (int i = frame.position(); i < frame.limit(); i++) {
                count += frame.get(i) == '\n' ? 1 : 0;
            }
            return ByteBuffer.allocate(frame.remaining() + 2)
                    .put((byte) ('0' + count))
                    .put((byte) '\n')
                    .put(frame.duplicate())
                    .flip();
        }
    }

    /** A frame ends before the next capital letter: so its end is found late. */
    record Words(int maxBytes) implements Framing {
        @Override
        public void find(FrameBytes bytes) {
            for (int i = Math.max(1, bytes.searched()); i < bytes.size(); i++) {
                if (Character.isUpperCase(bytes.get(i))) {
                    bytes.frame(i);
                    return;
                }
            }
        }
    }

    /** Does something wrong. */
    interface Wrong extends Framing {
        @Override
        default int maxBytes() {
            return 100;
        }
    }
}
