package io.millrace.cli.redis;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Bytes as the key of a map, with a cached hash. Comparable, so that a map whose keys were chosen to collide is a tree
 * and not a list.
 *
 * <p>A view refers to bytes in another array, and can be moved to other bytes: it is used to search without a copy.
 * What is kept in a map is a copy.
 */
final class Bytes implements Comparable<Bytes> {
    private byte[] array;
    private int offset;
    private int length;
    private int hash;

    private Bytes(byte[] array) {
        this.array = array;
    }

    static Bytes view() {
        return new Bytes(new byte[0]);
    }

    /** Moves a view to these bytes. */
    Bytes at(byte[] in, int from, int count) {
        array = in;
        offset = from;
        length = count;
        int sum = 0;
        for (int i = from; i < from + count; i++) {
            sum = 31 * sum + in[i];
        }
        hash = sum;
        return this;
    }

    /** Returns an immutable copy. */
    Bytes copy() {
        Bytes copy = new Bytes(Arrays.copyOfRange(array, offset, offset + length));
        copy.length = length;
        copy.hash = hash;
        return copy;
    }

    /** Returns the bytes of a copy. */
    byte[] array() {
        assert offset == 0 && array.length == length;
        return array;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Bytes that
                && hash == that.hash
                && length == that.length
                && Arrays.equals(array, offset, offset + length, that.array, that.offset, that.offset + length);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public int compareTo(Bytes that) {
        return Arrays.compare(array, offset, offset + length, that.array, that.offset, that.offset + that.length);
    }

    @Override
    public String toString() {
        return new String(array, offset, length, java.nio.charset.StandardCharsets.UTF_8);
    }
}
