package io.millrace.server.framing;

import io.millrace.server.FrameBytes;
import io.millrace.server.Framing;
import io.millrace.server.support.ServerSettings;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one connection that were not delivered yet, and what is known about the first frame in them.
 *
 * <p>There are two pieces: bytes kept from earlier reads, followed by the data of the current read. Usually nothing is
 * kept, and frames are delivered in place. When a read has been searched, its rest is kept. So the kept bytes are the
 * beginning of one frame, unless the framing was switched, found an end late, or frames are held back; then they may
 * contain several.
 */
public final class FrameBuffer implements FrameBytes {
    private static final byte[] NOTHING = {};
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);

    /** Stands for the end of a frame whose end is not known. */
    private static final long UNKNOWN = -1;

    /** Contains {@code count} kept bytes from {@code start} on. */
    private byte[] kept = NOTHING;

    private int start;
    private int count;
    /** The data of the current read, which follows them. */
    private ByteBuffer data = NO_DATA;

    private @Nullable Framing finder;
    /** How many bytes the framing sees at most, so that how the reads were cut cannot decide whether a frame is too long. */
    private int visible;

    private int searched;
    private long from;
    private long to;
    private long end = UNKNOWN;

    /** Where the data ends, and where it continues after the frame that is being delivered. */
    private int limit;

    private int next;

    // ---- Data ----

    /** Adds the data of a read, which is used until {@link #keep} or {@link #drop}. */
    public void add(ByteBuffer came) {
        data = came;
        limit = came.limit();
    }

    /** Keeps the rest of the data. */
    public void keep() {
        append(data.remaining());
        data = NO_DATA;
        limit = 0;
    }

    /** Forgets all bytes. */
    public void drop() {
        data = NO_DATA;
        limit = 0;
        skip(count);
        forget();
    }

    private void append(int size) {
        int needed = count + size;
        if (needed > kept.length - start) {
            int doubled = (int) Math.min(FramingKinds.LONGEST, 2L * count);
            byte[] larger = new byte[Math.max(needed, doubled)];
            System.arraycopy(kept, start, larger, 0, count);
            kept = larger;
            start = 0;
        }
        data.get(kept, start + count, size);
        count = needed;
    }

    private void skip(int size) {
        start += size;
        count -= size;
        if (count == 0) {
            kept = NOTHING;
            start = 0;
        }
    }

    // ---- The first frame ----

    /**
     * Lets a framing search the bytes, for the first time or after more have arrived. Throws whatever the framing throws,
     * and then nothing is known about the frame: whoever asks again, as a conversation may, is told the same again.
     */
    public void find(Framing framing, int maxBytes) throws ProtocolException {
        finder = framing;
        visible = maxBytes;
        boolean found = false;
        try {
            framing.find(this);
            searched = size();
            if (end > maxBytes || (end == UNKNOWN && searched >= maxBytes)) {
                throw FramingKinds.tooLong(end == UNKNOWN ? "more than " + maxBytes : Long.toString(end), maxBytes);
            }
            found = true;
        } finally {
            finder = null;
            if (!found) {
                forget();
            }
        }
    }

    @Override
    public void frame(long first, long behind, long size) {
        if (finder == null || end != UNKNOWN) {
            throw new IllegalStateException(
                    finder == null ? "a frame is told outside of find" : "a second frame is told; tell the first only");
        }
        boolean mayBeEmpty = finder instanceof FramingKinds.Exactly;
        if (first < 0 || behind < first || size < behind || (size == 0 && !mayBeEmpty)) {
            throw new IllegalArgumentException("a frame from " + first + " to " + behind + " that ends at " + size
                    + "; it must be 0 <= from <= to <= end and 1 <= end");
        }
        from = first;
        to = behind;
        end = size;
    }

    /** Returns whether it is known where the frame ends. */
    public boolean isFound() {
        return end != UNKNOWN;
    }

    /** Returns whether all of the frame has arrived. */
    public boolean isComplete() {
        return end != UNKNOWN && end <= available();
    }

    /** Forgets what is known about the frame, so that another framing can search. */
    public void forget() {
        end = UNKNOWN;
        searched = 0;
    }

    /**
     * Returns the frame, which must be complete: in place if it is in one piece, otherwise joined with its kept beginning.
     * Valid until {@link #endFrame}.
     */
    public ByteBuffer beginFrame() {
        int size = (int) end;
        int begin = (int) from;
        int length = (int) (to - from);
        forget();
        next = data.position();
        if (count == 0) {
            int at = next;
            next += size;
            return data.limit(at + begin + length).position(at + begin);
        }
        if (count < size) {
            append(size - count);
            next = data.position();
        }
        ByteBuffer frame = ByteBuffer.wrap(kept, start + begin, length);
        skip(size);
        return frame;
    }

    /** Moves on behind the frame, whatever the handler has done to the buffer. */
    public void endFrame() {
        data.limit(limit).position(next);
    }

    /** Returns the first of the two pieces as it is. Valid until {@link #endPiece}. */
    public ByteBuffer beginPiece() {
        return count > 0 ? ByteBuffer.wrap(kept, start, count) : data;
    }

    /**
     * Moves on behind a piece, or behind the part that the handler has consumed. If the handler has lowered the limit, the
     * bytes behind it count as not consumed.
     *
     * @param piece from {@link #beginPiece}
     * @param all whether to drop what was not consumed
     */
    public void endPiece(ByteBuffer piece, boolean all) {
        boolean old = count > 0;
        int behind = old ? start + count : limit;
        piece.limit(behind);
        if (all) {
            piece.position(behind);
        }
        if (old) {
            skip(count - piece.remaining());
        }
    }

    // ---- Searching ----

    /** Returns whether there are bytes that were not searched yet. */
    public boolean hasNews() {
        return available() > searched;
    }

    /** Returns how many bytes there are. Long, because a frame may be as long as an array, and more bytes may follow. */
    public long available() {
        return (long) count + data.remaining();
    }

    @Override
    public int size() {
        return (int) Math.min(available(), visible);
    }

    @Override
    public int searched() {
        return searched;
    }

    @Override
    public byte get(int index) {
        Objects.checkIndex(index, size());
        return at(index);
    }

    private byte at(int index) {
        return index < count ? kept[start + index] : data.get(data.position() + index - count);
    }

    @Override
    public long unsigned(int index, int bytes, ByteOrder order) {
        ServerSettings.inRange("the number of bytes of a number", bytes, 1, 4);
        Objects.checkFromIndexSize(index, bytes, size());
        long number = 0;
        for (int i = 0; i < bytes; i++) {
            byte next = at(order == ByteOrder.BIG_ENDIAN ? index + i : index + bytes - 1 - i);
            number = (number << 8) | (next & 0xFF);
        }
        return number;
    }

    /** Searches for the last of the wanted bytes, and compares those before it. */
    @Override
    public int indexOf(byte[] wanted, int begin) {
        if (wanted.length == 0) {
            throw new IllegalArgumentException("cannot look for nothing: one or more bytes are wanted");
        }
        int before = wanted.length - 1;
        byte last = wanted[before];
        int size = size();
        int i = (int) Math.min((long) Math.max(begin, 0) + before, size);
        for (; i < count && i < size; i++) {
            if (kept[start + i] == last && endsAt(i, wanted)) {
                return i - before;
            }
        }
        int shift = data.position() - count;
        int behind = size + shift;
        for (int at = i + shift; at < behind; at++) {
            if (data.get(at) == last && endsAt(at - shift, wanted)) {
                return at - shift - before;
            }
        }
        return -1;
    }

    /** Returns whether the wanted bytes end at {@code index}; the last one is known to match. */
    private boolean endsAt(int index, byte[] wanted) {
        int first = index - wanted.length + 1;
        for (int i = 0; i < wanted.length - 1; i++) {
            if (at(first + i) != wanted[i]) {
                return false;
            }
        }
        return true;
    }
}
