package io.millrace.poll.internal;

/**
 * Which slots of a wheel's level hold something, so that a long stall hops from one occupied slot
 * to the next instead of walking the empty ones.
 *
 * <p>Two levels: a bit per slot, and above it a bit per non-zero word. 65,536 slots are 1,024
 * words under 16 summary words; up to 4,096 slots need a single one.
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
        if (ahead != 0) {
            return (word << 6) + Long.numberOfTrailingZeros(ahead);
        }
        int next = nextWord(word + 1);
        if (next < 0) {
            // Gone round. May come back to the first word, of which only bits before from are left.
            next = nextWord(0);
        }
        return next < 0 ? -1 : (next << 6) + Long.numberOfTrailingZeros(words[next]);
    }

    private int nextWord(int from) {
        int i = from >>> 6;
        if (i >= summary.length) {
            return -1;
        }
        long ahead = summary[i] & (-1L << from);
        while (ahead == 0) {
            if (++i == summary.length) {
                return -1;
            }
            ahead = summary[i];
        }
        return (i << 6) + Long.numberOfTrailingZeros(ahead);
    }
}
