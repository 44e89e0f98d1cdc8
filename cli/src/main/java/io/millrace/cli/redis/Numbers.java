package io.millrace.cli.redis;

/** Decimal numbers in bytes, as strict as Redis: no plus sign, no space, no leading zero, no overflow. */
final class Numbers {
    /** Returned by {@link #parse} for what is not a number. The only number with this value is rejected, too. */
    static final long NONE = Long.MIN_VALUE;

    private Numbers() {}

    static long parse(byte[] bytes, int from, int length) {
        if (length == 0 || length > 20) {
            return NONE;
        }
        boolean negative = bytes[from] == '-';
        int i = negative ? from + 1 : from;
        int end = from + length;
        if (i == end || (bytes[i] == '0' && (negative || length > 1))) {
            return NONE;
        }
        long value = 0; // negative, because there is one more of those
        for (; i < end; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9 || value < Long.MIN_VALUE / 10) {
                return NONE;
            }
            value = 10 * value - digit;
            if (value > 0) {
                return NONE;
            }
        }
        if (negative) {
            return value;
        }
        return value == Long.MIN_VALUE ? NONE : -value;
    }

    /** Returns how many characters it has. */
    static int length(long value) {
        int length = value < 0 ? 2 : 1;
        for (long rest = value / 10; rest != 0; rest /= 10) {
            length++;
        }
        return length;
    }

    /** Writes a number, for which there must be room. Returns where it ends. */
    static int write(long value, byte[] to, int at) {
        int end = at + length(value);
        int i = end;
        long rest = value;
        do {
            to[--i] = (byte) ('0' + Math.abs(rest % 10));
            rest /= 10;
        } while (rest != 0);
        if (value < 0) {
            to[--i] = '-';
        }
        return end;
    }
}
