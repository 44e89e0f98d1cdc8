package io.millrace.sys.selector;

import static io.millrace.sys.selector.KqueueLayout.EVFILT_READ;
import static io.millrace.sys.selector.KqueueLayout.EVFILT_WRITE;
import static io.millrace.sys.selector.KqueueLayout.EV_ADD;
import static io.millrace.sys.selector.KqueueLayout.EV_CLEAR;
import static io.millrace.sys.selector.KqueueLayout.EV_DELETE;
import static io.millrace.sys.selector.KqueueLayout.EV_DISPATCH;
import static io.millrace.sys.selector.KqueueLayout.EV_EOF;
import static io.millrace.sys.selector.KqueueLayout.EV_ERROR;
import static io.millrace.sys.selector.KqueueLayout.EV_RECEIPT;
import static io.millrace.sys.selector.KqueueLayout.NOTE_TRIGGER;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Family;
import io.millrace.sys.KernelKey;
import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider.Refusal;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * kqueue(2) of macOS and FreeBSD: level, edge and one-shot natively; control goes straight to the kernel from any thread.
 *
 * <p><b>Filters.</b> A registration has no filter, one or two: EVFILT_READ and EVFILT_WRITE, both with the key as {@code
 * udata}. An empty interest has none, so it never spins. There is no filter for urgent data that both systems know: {@link
 * Bits#PRIORITY} is accepted and never reported.
 *
 * <p><b>Modify deletes and adds.</b> EV_ADD of an existing filter evaluates it again, which would re-arm an edge, but it keeps
 * the old EV_CLEAR and EV_DISPATCH (FreeBSD's kqueue_register says so). A filter that is new has the flags that were asked
 * for and reports at once if it is ready. All changes of a call travel in one list, each with a receipt.
 *
 * <p><b>One event per key and wait.</b> {@link #merge} joins the two filters of a key. {@link #positions} is a sparse set: the
 * position it holds for a slot counts only if the event there has this very key, so nothing is cleared between waits.
 *
 * <p><b>One-shot</b> is EV_DISPATCH on each filter, which the kernel disables when it reports it. The sibling may still come in a
 * later wait; {@link Registration#armed} lets only the first through. It is the only event that takes the lock.
 *
 * <p><b>Wake-up</b> is EVFILT_USER with EV_CLEAR: triggers coalesce, and there is no further descriptor.
 *
 * <p>With {@code -Dmillrace.kqueue.library} the functions come from that library, laid out as {@code -Dmillrace.kqueue.flavor}
 * says: so it runs on Linux, over an emulation.
 */
final class KqueueSelector implements Selector {
    static final String LIBRARY_PROPERTY = "millrace.kqueue.library";

    private static final int INITIAL_EVENTS = 128;
    /** Three years. macOS rejects longer timeouts as invalid; a wait may end early, and then returns zero events. */
    private static final long MAX_SECONDS = 100_000_000;

    /** A registration in the kernel. Guarded by {@link #lock}. */
    private static final class Registration {
        final Descriptor descriptor;
        final long key;
        int interest;
        int trigger;
        /** Whether it was not reported since add or modify; read for ONESHOT only. */
        boolean armed = true;

        Registration(Descriptor descriptor, long key, int interest, int trigger) {
            this.descriptor = descriptor;
            this.key = key;
            this.interest = interest;
            this.trigger = trigger;
        }
    }

    private final Object lock = new Object();
    /** By descriptor number, as in the kernel. Guarded by {@link #lock}. */
    private @Nullable Registration[] registrations = new Registration[64];

    private final Descriptor kqueue;

    private final Arena arena = Arena.ofShared();
    private final CallState waitState = new CallState(arena);
    private final long timespec = arena.allocate(16, 8).address();

    private Arena eventsArena = Arena.ofShared();
    private long events;
    private long[] keys = new long[INITIAL_EVENTS];
    private int[] readiness = new int[INITIAL_EVENTS];
    private int[] positions = new int[INITIAL_EVENTS];

    private KqueueSelector(Descriptor kqueue) {
        this.kqueue = kqueue;
        this.events = allocateEvents(eventsArena, INITIAL_EVENTS);
    }

    static Selector open() throws IOException {
        try (CallState state = CallState.borrow()) {
            int fd = Calls.kqueue(state);
            if (fd < 0) {
                throw new ErrnoException("kqueue", -1, -fd);
            }
            Descriptor kqueue = new Descriptor(fd, false);
            // A kqueue is not inherited by fork, but an emulated one may be. It has no blocking mode to change.
            Posix.setNonBlockingAndCloseOnExec(state, fd);
            long change = state.scratch();
            Calls.LAYOUT.put(change, 0, Calls.LAYOUT.userFilter, EV_ADD | EV_CLEAR, 0, KernelKey.WAKE);
            int result = Calls.kevent(state, fd, change, 1, 0, 0, 0);
            if (result < 0) {
                kqueue.close();
                throw new ErrnoException("kevent(EVFILT_USER)", fd, -result);
            }
            return new KqueueSelector(kqueue);
        }
    }

    /** Returns why there is nothing to call, as far as the settings say; null if it is worth trying. */
    static @Nullable Refusal missing() {
        String library = System.getProperty(LIBRARY_PROPERTY);
        if (library == null) {
            return Os.current().isBsd()
                    ? null
                    : new Refusal(
                            "there is no kqueue on " + System.getProperty("os.name"),
                            "To run it over an emulation, name a library by -D" + LIBRARY_PROPERTY + ".");
        }
        if (library.contains("/") && !Files.exists(Path.of(library))) {
            return new Refusal(
                    "there is no file " + library, "Name an existing library by -D" + LIBRARY_PROPERTY + ".");
        }
        try {
            KqueueLayout.of(System.getProperty(KqueueLayout.FLAVOR_PROPERTY));
            return null;
        } catch (IllegalArgumentException e) {
            return new Refusal(
                    "cannot lay out struct kevent: " + e.getMessage(),
                    "Name one of them by -D" + KqueueLayout.FLAVOR_PROPERTY + ".");
        }
    }

    @Override
    public String name() {
        return "kqueue";
    }

    @Override
    public Family family() {
        return Family.DESCRIPTOR;
    }

    @Override
    public boolean controlsAtOnce() {
        return true;
    }

    @Override
    public boolean emulatesTriggers() {
        return false;
    }

    @Override
    public void add(SystemHandle handle, long key, int interest, int trigger) throws IOException {
        Descriptor descriptor = (Descriptor) handle;
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        boolean added = false;
        try {
            synchronized (lock) {
                int error = tryAdd(new Registration(descriptor, key, interest, trigger));
                if (error != 0) {
                    throw new ErrnoException("kevent(EV_ADD)", descriptor.fd(), error);
                }
            }
            added = true;
        } finally {
            if (!added) {
                descriptor.release();
            }
        }
    }

    private int tryAdd(Registration registration) {
        int fd = registration.descriptor.fd();
        if (fd >= registrations.length) {
            registrations = Arrays.copyOf(registrations, Math.max(fd + 1, registrations.length * 2));
        }
        if (registrations[fd] != null) {
            return Errno.EEXIST.code(); // the kernel would silently hand over its filters
        }
        // Without a filter, the kernel would never look at the descriptor.
        int probed = Posix.probe(fd);
        int error =
                probed < 0 ? -probed : replace(fd, registration.key, 0, registration.interest, registration.trigger);
        if (error == 0) {
            registrations[fd] = registration;
        }
        return error;
    }

    @Override
    public void modify(SystemHandle handle, long key, int interest, int trigger) throws IOException {
        int fd = ((Descriptor) handle).fd();
        synchronized (lock) {
            Registration registration = find(fd, key);
            if (registration == null) {
                throw new ErrnoException("kevent(EV_ADD)", fd, Errno.ENOENT.code());
            }
            int error = replace(fd, key, registration.interest, interest, trigger);
            if (error != 0) {
                replace(fd, key, 0, registration.interest, registration.trigger); // restores the previous state
                throw new ErrnoException("kevent(EV_ADD)", fd, error);
            }
            registration.interest = interest;
            registration.trigger = trigger;
            registration.armed = true;
        }
    }

    /** Always before close(2): on an emulation, a duplicate of the descriptor would keep reporting. */
    @Override
    public void remove(SystemHandle handle, long key) {
        Descriptor descriptor = (Descriptor) handle;
        synchronized (lock) {
            Registration registration = find(descriptor.fd(), key);
            if (registration == null) {
                return;
            }
            registrations[descriptor.fd()] = null;
            replace(descriptor.fd(), key, registration.interest, 0, Bits.LEVEL);
        }
        descriptor.release();
    }

    private @Nullable Registration find(long fd, long key) {
        Registration registration = fd < registrations.length ? registrations[(int) fd] : null;
        return registration != null && registration.key == key ? registration : null;
    }

    /**
     * Deletes the filters of interest {@code before} and adds those of {@code after}.
     *
     * @return 0, or the errno of the first filter that the kernel refused to add; then there is no filter left
     */
    private int replace(int fd, long key, int before, int after, int trigger) {
        try (CallState state = CallState.borrow()) {
            long changes = state.scratch();
            assert 4 * Calls.LAYOUT.bytes <= CallState.SCRATCH_BYTES;
            long added = putChanges(changes, fd, key, before, EV_DELETE);
            long end = putChanges(added, fd, key, after, EV_ADD | flags(trigger));
            int count = (int) (end - changes) / Calls.LAYOUT.bytes;
            if (count == 0) {
                return 0;
            }
            int result = Calls.kevent(state, kqueue.fd(), changes, count, changes, count, 0);
            if (Errno.isInterrupted(result)) {
                return 0; // documented: the changes were applied
            }
            int error = result < 0 ? -result : firstError(added, end);
            if (error != 0 && after != 0) {
                replace(fd, key, after, 0, Bits.LEVEL);
            }
            return error;
        }
    }

    /**
     * The filter for writing comes first: libkqueue forgets to report EV_EOF if it comes second. A kernel does not
     * care.
     */
    private static long putChanges(long address, int fd, long key, int interest, int flags) {
        long next = address;
        if ((interest & Bits.WRITABLE) != 0) {
            Calls.LAYOUT.put(next, fd, EVFILT_WRITE, flags | EV_RECEIPT, 0, key);
            next += Calls.LAYOUT.bytes;
        }
        if ((interest & Bits.READABLE) != 0) {
            Calls.LAYOUT.put(next, fd, EVFILT_READ, flags | EV_RECEIPT, 0, key);
            next += Calls.LAYOUT.bytes;
        }
        return next;
    }

    /**
     * Reads the receipts of what was added. Those of deletions are ignored: a filter may be gone because an adopted
     * descriptor was closed by its owner. EPIPE is not an error: some systems return it for a pipe whose other end is
     * closed, and then report it.
     */
    private static int firstError(long receipts, long end) {
        for (long receipt = receipts; receipt < end; receipt += Calls.LAYOUT.bytes) {
            int error = (int) KqueueLayout.data(receipt);
            if (error != 0 && error != Errno.EPIPE.code()) {
                return error;
            }
        }
        return 0;
    }

    private static int flags(int trigger) {
        return switch (trigger) {
            case Bits.EDGE -> EV_CLEAR;
            case Bits.ONESHOT -> EV_DISPATCH;
            default -> 0;
        };
    }

    @Override
    public boolean rearm(long key, int drained) {
        return false;
    }

    @Override
    public int await(long timeoutNanos, int maxEvents) throws IOException {
        if (maxEvents > keys.length) {
            grow(maxEvents);
        }
        long timeout = 0;
        if (timeoutNanos >= 0) {
            timeout = timespec;
            Posix.putLong(timespec, Math.min(timeoutNanos / 1_000_000_000, MAX_SECONDS));
            Posix.putLong(timespec + 8, timeoutNanos % 1_000_000_000);
        }
        int found = Calls.kevent(waitState, kqueue.fd(), 0, 0, events, maxEvents, timeout);
        if (found < 0) {
            if (Errno.isInterrupted(found)) {
                return 0;
            }
            throw new ErrnoException("kevent", kqueue.fd(), -found);
        }
        return merge(found);
    }

    /** Turns the kernel's kevents into events, one per key. */
    private int merge(int found) {
        int count = 0;
        long end = events + (long) found * Calls.LAYOUT.bytes;
        for (long kevent = events; kevent < end; kevent += Calls.LAYOUT.bytes) {
            short filter = KqueueLayout.filter(kevent);
            if (filter == Calls.LAYOUT.userFilter) {
                continue;
            }
            long key = KqueueLayout.udata(kevent);
            int flags = KqueueLayout.flags(kevent);
            int bits = translate(filter, flags, KqueueLayout.fflags(kevent));
            int slot = KernelKey.index(key);
            if (slot >= positions.length) {
                positions = Arrays.copyOf(positions, Math.max(slot + 1, positions.length * 2));
            }
            int position = positions[slot];
            if (position < count && keys[position] == key) {
                readiness[position] |= bits;
            } else if ((flags & EV_DISPATCH) == 0 || disarm(KqueueLayout.ident(kevent), key, bits)) {
                keys[count] = key;
                readiness[count] = bits;
                positions[slot] = count++;
            }
        }
        return count;
    }

    /**
     * Returns whether this is the only event of a ONESHOT registration. An event that a modify has made meaningless
     * meanwhile is not: it must not use up the new registration without being seen.
     */
    private boolean disarm(long fd, long key, int bits) {
        synchronized (lock) {
            Registration registration = find(fd, key);
            if (registration == null || !registration.armed || (registration.interest & bits) == 0) {
                return false;
            }
            registration.armed = false;
            return true;
        }
    }

    @Override
    public long key(int event) {
        return keys[event];
    }

    @Override
    public int readiness(int event) {
        return readiness[event];
    }

    /** Holds a use of the kqueue, so that a late wake cannot reach another descriptor with the same number. */
    @Override
    public void wake() {
        if (kqueue.acquire()) {
            try {
                try (CallState state = CallState.borrow()) {
                    long change = state.scratch();
                    Calls.LAYOUT.put(change, 0, Calls.LAYOUT.userFilter, 0, NOTE_TRIGGER, KernelKey.WAKE);
                    int result = Calls.kevent(state, kqueue.fd(), change, 1, 0, 0, 0);
                    assert result == 0 : Errno.describe(-result);
                }
            } finally {
                kqueue.release();
            }
        }
    }

    @Override
    public void close() {
        synchronized (lock) {
            if (kqueue.isClosing()) {
                return;
            }
            kqueue.close();
            for (Registration registration : registrations) {
                if (registration != null) {
                    registration.descriptor.release();
                }
            }
            Arrays.fill(registrations, null);
        }
        eventsArena.close();
        arena.close();
    }

    /**
     * EV_EOF means a closed direction, in which a call will not block; with an error number in fflags it is also an
     * error.
     */
    static int translate(short filter, int flags, int fflags) {
        boolean read = filter == EVFILT_READ;
        int bits = read ? Bits.READABLE : Bits.WRITABLE;
        if ((flags & (EV_EOF | EV_ERROR)) != 0) {
            if ((flags & EV_EOF) != 0) {
                bits |= read ? Bits.READ_CLOSED : Bits.WRITE_CLOSED;
            }
            if ((flags & EV_ERROR) != 0 || fflags != 0) {
                bits |= Bits.ERROR;
            }
        }
        return bits;
    }

    private void grow(int capacity) {
        Arena larger = Arena.ofShared();
        events = allocateEvents(larger, capacity);
        keys = new long[capacity];
        readiness = new int[capacity];
        eventsArena.close();
        eventsArena = larger;
    }

    private static long allocateEvents(Arena arena, int capacity) {
        return arena.allocate((long) capacity * Calls.LAYOUT.bytes, 8).address();
    }

    @Override
    public String toString() {
        return "kqueue selector, " + Calls.LAYOUT.flavor() + " layout, " + kqueue;
    }

    @SuppressWarnings("restricted")
    private static final class Calls {
        static final KqueueLayout LAYOUT = KqueueLayout.of(System.getProperty(KqueueLayout.FLAVOR_PROPERTY));

        private static final SymbolLookup LOOKUP = lookup();
        /** It takes no argument; with one that it ignores, it has the shape of other calls. */
        static final MethodHandle KQUEUE = Native.link(LOOKUP, "kqueue", 1);

        static final MethodHandle KEVENT = Native.link(LOOKUP, "kevent", 6);

        private Calls() {}

        private static SymbolLookup lookup() {
            String library = System.getProperty(LIBRARY_PROPERTY);
            return library == null
                    ? Linker.nativeLinker().defaultLookup()
                    : SymbolLookup.libraryLookup(library, Arena.global());
        }

        static int kqueue(CallState state) {
            try {
                return state.result((long) KQUEUE.invokeExact(state.segment, 0L));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static int kevent(
                CallState state,
                int kqueue,
                long changes,
                int changeCount,
                long events,
                int eventCount,
                long timespec) {
            try {
                return state.result((long) KEVENT.invokeExact(
                        state.segment,
                        (long) kqueue,
                        changes,
                        (long) changeCount,
                        events,
                        (long) eventCount,
                        timespec));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }
}
