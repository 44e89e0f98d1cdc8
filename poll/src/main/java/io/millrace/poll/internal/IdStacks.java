package io.millrace.poll.internal;

import java.util.Arrays;

/**
 * Many small stacks of ids in one pool of blocks: the contents of a wheel's slots.
 *
 * <p>A stack is identified by its <em>top</em>, the position of its last id; 0 is the empty stack. A block is 32 ints:
 * a link to the top of the stack below it, and 31 ids. Only the uppermost block of a stack is partly filled, so {@code
 * top & 31} is also its fill. Reading a stack costs one dependent load in 31, like an array. But unlike an array per
 * slot, an emptied stack gives its memory to the others: a burst in one slot leaves nothing large behind, and in the
 * steady state nothing is allocated.
 *
 * <p>Blocks are in chunks, so that growing never copies more than the first one, which starts small. Single-threaded.
 */
final class IdStacks {
    static final int EMPTY = 0;

    private static final int BLOCK = 32;
    private static final int FILL_MASK = BLOCK - 1;
    private static final int CHUNK_BITS = 14;
    private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;

    private int[][] chunks = {new int[8 * BLOCK]};
    private int allocated = 8 * BLOCK;
    /** The first block that was never used. Not block 0, whose position means empty. */
    private int fresh = BLOCK;

    private int free = EMPTY;

    /** Pushes an id. Returns the new top, which is the position of the id. */
    int push(int top, int id) {
        int to = 1 + (top == EMPTY || (top & FILL_MASK) == FILL_MASK ? newBlock(top) : top);
        set(to, id);
        return to;
    }

    /** Removes the last id. Returns the new top. */
    int pop(int top) {
        return (top & FILL_MASK) == 1 ? freeBlock(top - 1) : top - 1;
    }

    int get(int position) {
        return chunks[position >>> CHUNK_BITS][position & CHUNK_MASK];
    }

    void set(int position, int id) {
        chunks[position >>> CHUNK_BITS][position & CHUNK_MASK] = id;
    }

    /** Returns how many ids a stack holds; if there are more than {@code limit}, some number above it. */
    int depth(int top, int limit) {
        int depth = 0;
        for (int t = top; t != EMPTY && depth <= limit; t = get(t & ~FILL_MASK)) {
            depth += t & FILL_MASK;
        }
        return depth;
    }

    /** Empties a stack into {@code to}, in the order of the pushes, with the last one just before {@code end}. */
    void drain(int top, int[] to, int end) {
        int at = end;
        for (int t = top; t != EMPTY; ) {
            int fill = t & FILL_MASK;
            int block = t - fill;
            at -= fill;
            System.arraycopy(chunks[block >>> CHUNK_BITS], (block & CHUNK_MASK) + 1, to, at, fill);
            t = freeBlock(block);
        }
    }

    private int freeBlock(int block) {
        int below = get(block);
        set(block, free);
        free = block;
        return below;
    }

    private int newBlock(int below) {
        int block = free;
        if (block != EMPTY) {
            free = get(block);
        } else {
            if (fresh == allocated) {
                grow();
            }
            block = fresh;
            fresh += BLOCK;
        }
        set(block, below);
        return block;
    }

    private void grow() {
        int chunk = allocated >>> CHUNK_BITS;
        if (chunk == 0) {
            allocated *= 2;
            chunks[0] = Arrays.copyOf(chunks[0], allocated);
        } else {
            if (chunk == chunks.length) {
                chunks = Arrays.copyOf(chunks, chunk * 2);
            }
            chunks[chunk] = new int[1 << CHUNK_BITS];
            allocated += 1 << CHUNK_BITS;
        }
    }
}
