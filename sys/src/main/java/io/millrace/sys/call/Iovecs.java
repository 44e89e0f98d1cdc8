package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of one vectored call in the form that the kernel expects: an array of addresses and lengths in native
 * memory. It is filled by {@link #forReading} or {@link #forWriting}, passed to a call, and settled with the buffers by
 * {@link #settleRead} or {@link #settleWrite}. Nothing is allocated if the buffers are the same as in the last call.
 *
 * <p>Bytes without a lasting address (see {@link BufferAddress}) go through a {@link Scratch}, side by side. Only the
 * first 64 buffers are used, up to where the scratch is full; the rest is left for the next call, because bytes must
 * not be moved out of order.
 *
 * <p><b>Remembered addresses.</b> There is one cache per thread, in the order of the last calls: the buffer that
 * followed the last hit is checked first, so that a queue that has moved on by a few buffers still finds each at once.
 */
public final class Iovecs implements AutoCloseable {
    /** The most buffers that one call takes. */
    public static final int MAX_BUFFERS = 64;

    /** The most bytes that one call is asked for: as an {@code int}, and below what any kernel refuses. */
    public static final int MAX_BYTES = 1 << 30;

    private static final int ARRAY_OFFSET = 64;
    private static final int DIRECT = -1;
    private static final ThreadLocal<Iovecs> OF_PLATFORM_THREAD = ThreadLocal.withInitial(() -> new Iovecs(false));
    private static final LendingPool<Iovecs> OF_VIRTUAL_THREADS = new LendingPool<>();

    /** The header, then the array. Freed with this object, by the garbage collector. */
    private final MemorySegment memory;

    private final long header;
    private final long array;

    /**
     * For each entry: the buffer, how many bytes, and their place in the scratch or DIRECT. The buffers are held from
     * here until {@link #close}, so that their memory outlives the call even if the caller's array is changed
     * meanwhile.
     */
    private final @Nullable ByteBuffer[] buffer = new ByteBuffer[MAX_BUFFERS];

    private final int[] bytes = new int[MAX_BUFFERS];
    private final int[] copied = new int[MAX_BUFFERS];
    private int count;
    private int asked;
    private int toCopy;
    /** Held from the layout until {@link #close}, if something is copied. */
    private @Nullable Scratch scratch;

    private final @Nullable BufferAddress[] known = new BufferAddress[MAX_BUFFERS];
    private int knownCount;
    private int next;

    private final boolean lent;

    private Iovecs(boolean lent) {
        this.lent = lent;
        this.memory = Arena.ofAuto().allocate(ARRAY_OFFSET + (long) MAX_BUFFERS * Msghdr.IOVEC_BYTES, 16);
        this.header = memory.address();
        this.array = header + ARRAY_OFFSET;
    }

    /**
     * Returns one for a call, until {@link #close}: the platform thread's own, or a borrowed one if the thread is
     * virtual.
     */
    public static Iovecs borrow() {
        if (!Thread.currentThread().isVirtual()) {
            return OF_PLATFORM_THREAD.get();
        }
        Iovecs free = OF_VIRTUAL_THREADS.take();
        return free != null ? free : new Iovecs(true);
    }

    /**
     * Lays out the free room of the buffers.
     *
     * @return how many bytes the call will ask for
     * @throws RuntimeException if this thread may not write one of them now; nothing was read yet
     */
    public int forReading(ByteBuffer[] buffers, int offset, int length) {
        layOut(buffers, offset, length, MAX_BYTES);
        for (int i = 0; i < count; i++) {
            ByteBuffer each = held(i);
            if (copied[i] != DIRECT && each.isDirect()) {
                each.get(
                        each.position()); // A buffer that this thread may not use throws before bytes are taken for it.
            }
        }
        return asked;
    }

    /**
     * Lays out the bytes of the buffers.
     *
     * @return how many bytes the call will offer
     * @throws RuntimeException if this thread may not read one of them now
     */
    public int forWriting(ByteBuffer[] buffers, int offset, int length) {
        return forWriting(buffers, offset, length, MAX_BYTES);
    }

    /**
     * Like {@link #forWriting(ByteBuffer[], int, int)}, but no more than {@code most} bytes.
     *
     * @return how many bytes the call will offer
     */
    public int forWriting(ByteBuffer[] buffers, int offset, int length, int most) {
        layOut(buffers, offset, length, Math.min(most, MAX_BYTES));
        for (int i = 0; i < count; i++) {
            if (copied[i] != DIRECT) {
                ByteBuffer each = held(i);
                copies().take(each, each.position(), bytes[i], copied[i]);
            }
        }
        return asked;
    }

    private void layOut(ByteBuffer[] buffers, int offset, int length, int most) {
        count = 0;
        asked = 0;
        toCopy = 0;
        int end = offset + Math.min(length, MAX_BUFFERS);
        boolean room = true;
        for (int i = offset; i < end && room; i++) {
            // Each is read once: if they are changed meanwhile, the bytes still lie within the buffer.
            ByteBuffer each = buffers[i];
            int position = each.position();
            int remaining = each.limit() - position;
            if (remaining > 0) {
                room = add(each, position, remaining, most);
            }
        }
        if (toCopy > 0) {
            Scratch held = Scratch.borrow(toCopy);
            scratch = held;
            for (int i = 0; i < count; i++) {
                if (copied[i] != DIRECT) {
                    Msghdr.putIovec(iovec(i), held.address() + copied[i], bytes[i]);
                }
            }
        }
        Msghdr.put(header, 0, 0, array, count);
    }

    /** Returns false if it did not fit completely; then what follows must wait for the next call. */
    private boolean add(ByteBuffer each, int position, int remaining, int most) {
        BufferAddress address = each.isDirect() ? addressOf(each) : null;
        boolean direct = address != null && address.isLasting();
        int room = direct ? most - asked : Math.min(most - asked, Scratch.MAX_BYTES - toCopy);
        int taken = Math.min(remaining, room);
        if (taken == 0) {
            return false;
        }
        if (address != null && direct) {
            copied[count] = DIRECT;
            Msghdr.putIovec(iovec(count), address.at(position), taken);
        } else {
            copied[count] = toCopy;
            toCopy += taken;
        }
        buffer[count] = each;
        bytes[count] = taken;
        count++;
        asked += taken;
        return taken == remaining;
    }

    private BufferAddress addressOf(ByteBuffer each) {
        for (int i = 0; i < knownCount; i++) {
            int at = next + i < knownCount ? next + i : next + i - knownCount;
            BufferAddress address = known[at];
            if (address != null && address.refersTo(each)) {
                next = at + 1 == knownCount ? 0 : at + 1;
                return address;
            }
        }
        BufferAddress learnt = BufferAddress.of(null, each);
        int at = knownCount < MAX_BUFFERS ? knownCount++ : next;
        known[at] = learnt;
        next = at + 1 == knownCount ? 0 : at + 1;
        return learnt;
    }

    /** Copies what a call read into the buffers, and moves their positions. */
    public void settleRead(int moved) {
        int left = moved;
        for (int i = 0; i < count && left > 0; i++) {
            ByteBuffer each = held(i);
            int part = Math.min(left, bytes[i]);
            if (copied[i] != DIRECT) {
                copies().give(each, each.position(), part, copied[i]);
            }
            each.position(each.position() + part);
            left -= part;
        }
    }

    /** Moves the positions of the buffers by what a call wrote. */
    public void settleWrite(int moved) {
        int left = moved;
        for (int i = 0; i < count && left > 0; i++) {
            ByteBuffer each = held(i);
            int part = Math.min(left, bytes[i]);
            each.position(each.position() + part);
            left -= part;
        }
    }

    /** Releases the buffers and what was borrowed. Called after each call, however it ended. */
    @Override
    public void close() {
        Arrays.fill(buffer, 0, count, null);
        count = 0;
        Scratch held = scratch;
        if (held != null) {
            scratch = null;
            held.close();
        }
        if (lent) {
            OF_VIRTUAL_THREADS.giveBack(this);
        }
    }

    private Scratch copies() {
        return Objects.requireNonNull(scratch);
    }

    private ByteBuffer held(int entry) {
        return Objects.requireNonNull(buffer[entry]);
    }

    private long iovec(int index) {
        return array + (long) index * Msghdr.IOVEC_BYTES;
    }

    /** Returns the header of a message without a name, for recvmsg and sendmsg. */
    public long header() {
        return header;
    }

    /** Returns the array itself, for readv and writev. */
    long array() {
        return array;
    }

    int count() {
        return count;
    }

    @Override
    public String toString() {
        return count + " buffers of " + asked + " bytes, " + toCopy + " of them copied, in " + memory;
    }
}
