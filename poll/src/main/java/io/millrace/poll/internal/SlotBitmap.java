package io.millrace.poll.internal;

/**
 * Which slots of a wheel's level hold something, so that a long stall hops from one occupied slot to the next.
 *
 * <p>A bit per slot, and above it a bit per non-zero word: 65,536 slots are 1,024 words under 16, and up to 4,096
 * slots need a single one above. Single-threaded.
 */
final class SlotBitmap {
    private final long[] words;
    private final long[] summary;

    /** {@code slots} is a power of two, at least 64. */
    SlotBitmap(int slots) {
        words = new long[slots >>> 6];
        summary = new long[(words.length + 63) >>> 6];
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

    /** The first occupied slot at or after {@code from}, going round; −1 if none is. */
    int next(int from) {
        int word = from >>> 6;
        long ahead = words[word] & (-1L << from);
        if (ahead == 0) {
            word = nextWord(word + 1);
            if (word < 0) {
                // Going round may end in the word it began with: there, only slots before from are left.
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
