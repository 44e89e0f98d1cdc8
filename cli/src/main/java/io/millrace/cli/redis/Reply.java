package io.millrace.cli.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Collects replies, one after the other, in an array that grows. */
final class Reply {
    private static final int USUAL = 16 << 10;
    private static final byte[] OK = ascii("+OK\r\n");
    private static final byte[] NULL = ascii("$-1\r\n");
    private static final byte[] NULL_ARRAY = ascii("*-1\r\n");

    private byte[] bytes = new byte[USUAL];
    private int size;

    /** Empties it, and releases what a long reply needed. */
    void clear() {
        size = 0;
        if (bytes.length > 64 * USUAL) {
            bytes = new byte[USUAL];
        }
    }

    int size() {
        return size;
    }

    /** Removes what was written after this position. */
    void truncate(int to) {
        size = to;
    }

    /** Returns everything; not a copy. */
    ByteBuffer buffer() {
        return ByteBuffer.wrap(bytes, 0, size);
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void makeRoom(int more) {
        if (more > bytes.length - size) {
            long doubled = Math.max((long) size + more, 2L * bytes.length);
            if ((long) size + more > Integer.MAX_VALUE - 8) {
                throw new OutOfMemoryError("a reply of more than 2 GiB");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.min(doubled, Integer.MAX_VALUE - 8));
        }
    }

    void raw(byte[] text) {
        makeRoom(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
    }

    void ok() {
        raw(OK);
    }

    void nil() {
        raw(NULL);
    }

    void nilArray() {
        raw(NULL_ARRAY);
    }

    void integer(long value) {
        line(':', value);
    }

    void array(int count) {
        line('*', count);
    }

    private void line(char kind, long value) {
        makeRoom(24);
        bytes[size++] = (byte) kind;
        size = Numbers.write(value, bytes, size);
        end();
    }

    private void end() {
        bytes[size++] = '\r';
        bytes[size++] = '\n';
    }

    void bulk(byte[] text) {
        bulk(text, 0, text.length);
    }

    void bulk(byte[] text, int from, int length) {
        makeRoom(length + 32);
        line('$', length);
        System.arraycopy(text, from, bytes, size, length);
        size += length;
        end();
    }

    void bulk(String text) {
        bulk(ascii(text));
    }

    /** Writes an error, without CR and LF, which would end it. */
    void error(String text) {
        byte[] line = ascii(text.replace('\r', ' ').replace('\n', ' '));
        makeRoom(line.length + 3);
        bytes[size++] = '-';
        raw(line);
        end();
    }
}
