package io.millrace.server;

import io.millrace.server.framing.FrameBuffer;
import java.nio.ByteOrder;

/**
 * The bytes that a {@link Framing} looks for a frame in: those that have come on a connection and were not delivered.
 * The first has index 0. Valid during {@link Framing#find}, on its thread.
 */
public sealed interface FrameBytes permits FrameBuffer {
    /**
     * Returns how many bytes there are, up to {@link Framing#maxBytes}.
     *
     * @return at least 1
     */
    int size();

    /**
     * Returns how many of the bytes were there at the last call of {@link Framing#find}, which did not find the end in
     * them. A framing that begins its search here looks at every byte once, however they arrive; begin a little
     * earlier if part of a delimiter may have come before.
     *
     * @return 0 in the first call for a frame
     */
    int searched();

    /**
     * Returns one of the bytes.
     *
     * @param index which one
     * @return the byte
     * @throws IndexOutOfBoundsException if the index is negative, or not less than {@link #size}
     */
    byte get(int index);

    /**
     * Returns an unsigned number, for example a length.
     *
     * @param index where it begins
     * @param count how many bytes it has, 1 to 4
     * @param order which of its bytes comes first
     * @return the number, at least 0
     * @throws IndexOutOfBoundsException if not all of it has come
     */
    long unsigned(int index, int count, ByteOrder order);

    /**
     * Looks for some bytes, for example a delimiter.
     *
     * @param wanted one or more bytes
     * @param from where the search begins; a negative index counts as 0
     * @return the index of the first of them, or −1 if they are not there
     */
    int indexOf(byte[] wanted, int from);

    /**
     * Tells where the frame ends. All of it is delivered.
     *
     * @param end how many bytes the frame has, at least 1. They need not be there yet
     * @throws IllegalArgumentException if that is less than 1
     */
    default void frame(long end) {
        frame(0, end, end);
    }

    /**
     * Tells where the frame ends, and which part of it is delivered.
     *
     * @param from the index of the first byte that is delivered
     * @param to the index behind the last byte that is delivered
     * @param end how many bytes the frame has with what is around it, at least 1. They need not be there yet
     * @throws IllegalArgumentException unless 0 ≤ from ≤ to ≤ end and 1 ≤ end
     * @throws IllegalStateException if a frame was told already, or outside of {@link Framing#find}
     */
    void frame(long from, long to, long end);
}
