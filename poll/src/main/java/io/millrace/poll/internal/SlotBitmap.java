package io.millrace.poll.internal;

import java.util.Arrays;

/**
 * Records which slots of a wheel's level are occupied, so that after a long stall the wheel goes directly from one
 * occupied slot to the next; or which ids are free.
 *
 * <p>There is a bit per slot and, above that, a bit per non-zero word: 65,536 slots take 1,024 words below 16, and up
 * to 4,096 slots need only one above. Single-threaded.
 */
final class SlotBitmap {
    private final long[] words;
    private final long[] summary;

    /** {@code slots} is a multiple of 64. */
    SlotBitmap(int slots) {
        this(new long[slots >>> 6], new long[(slots + 4095) >>> 12]);
    }

    private SlotBitmap(long[] words, long[] summary) {
        this.words = words;
        this.summary = summary;
    }

    /** Returns this bitmap, or a copy that is at least twice as large. */
    SlotBitmap atLeast(int slots) {
        if (slots <= words.length << 6) {
            return this;
        }
        int length = Math.max((slots + 63) >>> 6, words.length * 2);
        return new SlotBitmap(Arrays.copyOf(words, length), Arrays.copyOf(summary, (length + 63) >>> 6));
    }

    void set(int slot) {
        int word = slot >>> 6;
        words[word] |= 1L << slot;
        summary[word >>> 6] |= 1L << word;
    }

    void clear(int slot) {
        int word = slot >>> 6;
        words[word] &= ~(1L << slot);
        if (words[word] == 0) {
            summary[word >>> 6] &= ~(1L << word);
        }
    }

    /** Returns the first occupied slot at or after {@code from}, wrapping around; −1 if there is none. */
    int next(int from) {
        int word = from >>> 6;
        long ahead = words[word] & (-1L << from);
        if (ahead == 0) {
            word = nextWord(word + 1);
            if (word < 0) {
                // Wrapping around may end in the word where it began; only the slots before from are left there.
                word = nextWord(0);
            }
            if (word < 0) {
                return -1;
            }
            ahead = words[word];
        }
        return (word << 6) + Long.numberOfTrailingZeros(ahead);
    }

    private int nextWord(int from) {
        long mask = -1L << from;
        for (int i = from >>> 6; i < summary.length; i++, mask = -1L) {
            long ahead = summary[i] & mask;
            if (ahead != 0) {
                return (i << 6) + Long.numberOfTrailingZeros(ahead);
            }
        }
        return -1;
    }
}
