package io.millrace.cli.redis;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Bytes as a key of a map, with the hash counted once. Comparable, so that a map whose keys were chosen to collide is a tree, not a list.
 *
 * <p>A view looks at bytes of somebody else, and can look at others afterwards: for finding, without a copy. What is kept in a map is a copy.
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

    /** Looks at these bytes from now on. Only for a view. */
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

    /** What does not change any more. */
    Bytes copy() {
        Bytes copy = new Bytes(Arrays.copyOfRange(array, offset, offset + length));
        copy.length = length;
        copy.hash = hash;
        return copy;
    }

    /** The bytes of a copy. */
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
