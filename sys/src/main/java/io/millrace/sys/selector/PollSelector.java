package io.millrace.sys.selector;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Family;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * poll(2): on every Unix. Its cost grows with the number of watched descriptors.
 *
 * <p>{@code struct pollfd} is {int fd; short events; short revents}. Position 0 is the wake-up descriptor. An entry
 * that watches nothing has the complement of its number in {@code fd}: negative, so that the kernel skips it, including
 * hang-up. The scan of the results begins where the last one stopped, so that a small {@code maxEvents} starves no
 * source.
 */
final class PollSelector extends EmulatingSelector {
    private static final int BYTES = 8;
    private static final int EVENTS = 4;
    private static final int REVENTS = 6;
    private static final int SCRATCH = 64;

    private final Arena arena = Arena.ofShared();
    private final CallState state = new CallState(Arena.ofAuto());
    private final long scratch = arena.allocate(SCRATCH, 8).address();
    private final WakeFd wakeFd;

    private Arena tableArena = Arena.ofShared();
    private MemorySegment tableSegment;
    private long table;
    private @Nullable Entry[] watchedEntries;
    /** How many positions are used, including that of the wake-up descriptor. */
    private int size = 1;

    /** The registered numbers. */
    private final BitSet registered = new BitSet();

    private int found;
    private int resumeAt = 1;

    private PollSelector(WakeFd wakeFd) {
        this.wakeFd = wakeFd;
        int initial = 64;
        this.tableSegment = tableArena.allocate((long) initial * BYTES, 8);
        this.table = tableSegment.address();
        this.watchedEntries = new Entry[initial];
        put(0, wakeFd.fd(), Posix.POLLIN);
    }

    static Selector open() throws IOException {
        return new PollSelector(WakeFd.open());
    }

    @Override
    public String name() {
        return "poll";
    }

    @Override
    public Family family() {
        return Family.DESCRIPTOR;
    }

    @Override
    void check(SystemHandle handle) throws IOException {
        int fd = ((Descriptor) handle).fd();
        int result = Posix.probe(fd);
        if (result < 0) {
            throw new ErrnoException("fcntl", fd, -result);
        }
        synchronized (lock) {
            // epoll and kqueue themselves refuse a number that is already registered.
            if (registered.get(fd)) {
                throw new ErrnoException("poll", fd, Errno.EEXIST.code());
            }
            registered.set(fd);
        }
    }

    @Override
    void forget(SystemHandle handle) {
        registered.clear(((Descriptor) handle).fd());
    }

    @Override
    void attach(Entry entry) {
        if (size == watchedEntries.length) {
            grow();
        }
        entry.position = size++;
        watchedEntries[entry.position] = entry;
        watch(entry);
    }

    @Override
    void watch(Entry entry) {
        int fd = ((Descriptor) entry.handle).fd();
        put(entry.position, entry.watched == 0 ? ~fd : fd, mask(entry.watched));
    }

    /** Moves the last entry to its place. */
    @Override
    void detach(Entry entry) {
        int hole = entry.position;
        int last = --size;
        Entry moved = watchedEntries[last];
        watchedEntries[last] = null;
        if (hole != last && moved != null) {
            watchedEntries[hole] = moved;
            moved.position = hole;
            Posix.putLong(at(hole), Posix.getLong(at(last)));
        }
    }

    @Override
    void block(long timeoutNanos) throws IOException {
        found = Posix.poll(state, table, size, Millis.ceil(timeoutNanos));
        if (found < 0) {
            int error = -found;
            found = 0;
            if (error != Errno.EINTR.code()) {
                throw new ErrnoException("poll", -1, error);
            }
        }
    }

    @Override
    void collect() {
        if (found == 0) {
            return;
        }
        if (Posix.getShort(at(0) + REVENTS) != 0) {
            wakeFd.drain(state, scratch, SCRATCH);
        }
        int entries = size - 1;
        for (int step = 0; step < entries && !full(); step++) {
            int position = resumeAt >= size ? 1 : resumeAt;
            resumeAt = position + 1;
            short revents = Posix.getShort(at(position) + REVENTS);
            if (revents != 0) {
                Posix.putShort(at(position) + REVENTS, (short) 0);
                Entry entry = watchedEntries[position];
                if (entry != null) {
                    // A change of what is asked has cleared the result: see put().
                    report(entry, entry.question, translate(revents));
                }
            }
        }
        found = 0;
    }

    @Override
    public void wake() {
        wakeFd.wake();
    }

    @Override
    public void close() {
        releaseAll();
        wakeFd.close();
        tableArena.close();
        arena.close();
    }

    static short mask(int interest) {
        int mask = 0;
        if ((interest & Bits.READABLE) != 0) {
            mask |= Posix.POLLIN | (Os.current() == Os.LINUX ? Posix.POLLRDHUP : 0);
        }
        if ((interest & Bits.WRITABLE) != 0) {
            mask |= Posix.POLLOUT;
        }
        if ((interest & Bits.PRIORITY) != 0) {
            mask |= Posix.POLLPRI;
        }
        return (short) mask;
    }

    static int translate(short mask) {
        int bits = 0;
        if ((mask & Posix.POLLIN) != 0) {
            bits |= Bits.READABLE;
        }
        if ((mask & Posix.POLLOUT) != 0) {
            bits |= Bits.WRITABLE;
        }
        if ((mask & Posix.POLLPRI) != 0) {
            bits |= Bits.PRIORITY;
        }
        if ((mask & Posix.POLLRDHUP) != 0) {
            bits |= Bits.READABLE | Bits.READ_CLOSED;
        }
        if ((mask & Posix.POLLHUP) != 0) {
            bits |= Bits.READABLE | Bits.READ_CLOSED | Bits.WRITE_CLOSED;
        }
        if ((mask & (Posix.POLLERR | Posix.POLLNVAL)) != 0) {
            bits |= Bits.READABLE | Bits.WRITABLE | Bits.ERROR;
        }
        return bits;
    }

    private void put(int position, int fd, short events) {
        Posix.putInt(at(position), fd);
        Posix.putShort(at(position) + EVENTS, events);
        Posix.putShort(at(position) + REVENTS, (short) 0);
    }

    private long at(int position) {
        return table + (long) position * BYTES;
    }

    private void grow() {
        int capacity = watchedEntries.length * 2;
        Arena larger = Arena.ofShared();
        MemorySegment copy = larger.allocate((long) capacity * BYTES, 8);
        copy.copyFrom(tableSegment);
        tableArena.close();
        tableArena = larger;
        tableSegment = copy;
        table = copy.address();
        watchedEntries = Arrays.copyOf(watchedEntries, capacity);
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "poll selector, " + (size - 1) + " descriptors";
        }
    }
}
