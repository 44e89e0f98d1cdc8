package io.millrace.poll.internal;

import java.util.Arrays;

/**
 * Many small stacks of ids, out of one pool of 16-int blocks: what a wheel's slots hold.
 *
 * <p>A stack is named by its <em>top</em>, the position of its last id; 0 is the empty stack. A block
 * is one link, to the top of the stack below it, and fifteen ids; only the uppermost block of a
 * stack is ever partly filled, so {@code top & 15} is also its fill. Reading a stack costs one
 * dependent load in fifteen, like an array; but unlike an array per slot, an emptied stack gives
 * its memory to the others: a burst in one slot leaves no big array behind, and the steady state
 * allocates nothing.
 *
 * <p>Blocks live in chunks, so growing the pool never copies ids.
 */
final class IdStacks {

    static final int EMPTY = 0;

    private static final int FILL_MASK = 31;
    private static final int CHUNK_BITS = 14;
    private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;

    private int[][] chunks = new int[0][];
    /** The first block no stack has had yet. Block 0 is never given out: its position means empty. */
    private int fresh = FILL_MASK + 1;

    private int free = EMPTY;

    /** Pushes and returns the new top, which is where the id now is. */
    int push(int top, int id) {
        int to = (top & FILL_MASK) == (top == EMPTY ? 0 : FILL_MASK) ? newBlock(top) + 1 : top + 1;
        set(to, id);
        return to;
    }

    /** Drops the last id and returns the new top. */
    int pop(int top) {
        if ((top & FILL_MASK) != 1) {
            return top - 1;
        }
        int block = top - 1;
        int below = get(block);
        set(block, free);
        free = block;
        return below;
    }

    int get(int position) {
        return chunks[position >>> CHUNK_BITS][position & CHUNK_MASK];
    }

    void set(int position, int id) {
        chunks[position >>> CHUNK_BITS][position & CHUNK_MASK] = id;
    }

    /** Empties a stack into {@code to}, its last id just before {@code end}. */
    void drain(int top, int[] to, int end) {
        int position = end;
        for (int t = top; t != EMPTY; ) {
            int fill = t & FILL_MASK;
            int block = t - fill;
            position -= fill;
            int[] chunk = chunks[block >>> CHUNK_BITS];
            int at = block & CHUNK_MASK;
            System.arraycopy(chunk, at + 1, to, position, fill);
            t = chunk[at];
            chunk[at] = free;
            free = block;
        }
    }

    int depth(int top) {
        int depth = 0;
        for (int t = top; t != EMPTY; t = get(t & ~FILL_MASK)) {
            depth += t & FILL_MASK;
        }
        return depth;
    }

    private int newBlock(int below) {
        int block = free;
        if (block != EMPTY) {
            free = get(block);
        } else {
            block = fresh;
            int chunk = block >>> CHUNK_BITS;
            if (chunk == chunks.length || chunks[chunk] == null) {
                if (chunk == chunks.length) {
                    chunks = Arrays.copyOf(chunks, Math.max(4, chunk * 2));
                }
                chunks[chunk] = new int[1 << CHUNK_BITS];
            }
            fresh += FILL_MASK + 1;
        }
        set(block, below);
        return block;
    }
}
