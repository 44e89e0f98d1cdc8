package io.millrace.sys.selector;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Family;
import io.millrace.sys.KernelKey;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.NotInlined;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * epoll(7): supports level, edge and one-shot; control calls go directly to the kernel from any thread.
 *
 * <p>The wake-up eventfd is edge-triggered and never read: each write is a new edge, and its counter would overflow
 * only after 2⁶⁴ − 1 wakes. Key and mask travel in the kernel's event, so nothing has to be looked up here.
 */
final class EpollSelector implements Selector {
    static final int EPOLLIN = 0x001;
    static final int EPOLLPRI = 0x002;
    static final int EPOLLOUT = 0x004;
    static final int EPOLLERR = 0x008;
    static final int EPOLLHUP = 0x010;
    static final int EPOLLRDHUP = 0x2000;
    static final int EPOLLONESHOT = 1 << 30;
    static final int EPOLLET = 1 << 31;

    private static final int EPOLL_CLOEXEC = 0x80000;
    static final int CTL_ADD = 1;
    private static final int CTL_DEL = 2;
    private static final int CTL_MOD = 3;

    /** {@code struct epoll_event} is packed on x86-64 only. */
    static final int EVENT_BYTES = Os.x8664() ? 12 : 16;

    static final int DATA_OFFSET = EVENT_BYTES - 8;
    private static final int INITIAL_EVENTS = 128;

    private final Arena arena;
    private final CallState waitState;
    private final long timespec;
    private final Descriptor epoll;
    private final WakeFd wakeFd;
    /**
     * False once the kernel or a filter has refused epoll_pwait2; from then on, timeouts are milliseconds, rounded up.
     */
    private boolean nanosecondWaits = Calls.PWAIT2 != null;

    private Arena eventsArena;
    private long events;
    private int eventsCapacity;

    private EpollSelector(Arena arena, CallState state, Descriptor epoll, WakeFd wakeFd) {
        this.arena = arena;
        this.waitState = state;
        this.epoll = epoll;
        this.wakeFd = wakeFd;
        this.timespec = arena.allocate(16, 8).address();
        this.eventsArena = Arena.ofShared();
        this.eventsCapacity = INITIAL_EVENTS;
        this.events =
                eventsArena.allocate((long) INITIAL_EVENTS * EVENT_BYTES, 8).address();
    }

    static Selector open() throws IOException {
        try (CallState state = CallState.borrow()) {
            int fd = Calls.create1(state);
            if (fd < 0) {
                throw new ErrnoException("epoll_create1", -1, -fd);
            }
            Descriptor epoll = new Descriptor(fd, false);
            @Nullable WakeFd wakeFd = null;
            Arena arena = Arena.ofShared();
            try {
                wakeFd = WakeFd.open();
                int result = Calls.ctl(state, fd, CTL_ADD, wakeFd.fd(), EPOLLIN | EPOLLET, KernelKey.WAKE);
                if (result < 0) {
                    throw new ErrnoException("epoll_ctl(ADD)", wakeFd.fd(), -result);
                }
                return new EpollSelector(arena, new CallState(Arena.ofAuto()), epoll, wakeFd);
            } catch (Throwable thrown) {
                epoll.close();
                arena.close();
                if (wakeFd != null) {
                    wakeFd.close();
                }
                throw thrown;
            }
        }
    }

    @Override
    public String name() {
        return "epoll";
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
            throw new java.nio.channels.ClosedChannelException();
        }
        int result = control(CTL_ADD, descriptor.fd(), mask(interest, trigger), key);
        if (result < 0) {
            descriptor.release();
            throw new ErrnoException("epoll_ctl(ADD)", descriptor.fd(), -result);
        }
    }

    @Override
    public void modify(SystemHandle handle, long key, int interest, int trigger) throws IOException {
        int fd = ((Descriptor) handle).fd();
        int result = control(CTL_MOD, fd, mask(interest, trigger), key);
        if (result < 0) {
            throw new ErrnoException("epoll_ctl(MOD)", fd, -result);
        }
    }

    /** Always before close(2): a duplicate of the descriptor would keep reporting. */
    @Override
    public void remove(SystemHandle handle, long key) {
        Descriptor descriptor = (Descriptor) handle;
        // A failure means that the kernel has already dropped it, because an adopted descriptor was closed by its
        // owner.
        int ignored = control(CTL_DEL, descriptor.fd(), 0, 0);
        assert ignored <= 0;
        descriptor.release();
    }

    private int control(int op, int fd, int mask, long key) {
        try (CallState state = CallState.borrow()) {
            return Calls.ctl(state, epoll.fd(), op, fd, mask, key);
        }
    }

    @Override
    public boolean rearm(long key, int readiness) {
        return false;
    }

    @Override
    public int await(long timeoutNanos, int maxEvents) throws IOException {
        if (maxEvents > eventsCapacity) {
            grow(maxEvents);
        }
        int count = nanosecondWaits ? awaitNanos(timeoutNanos, maxEvents) : awaitMillis(timeoutNanos, maxEvents);
        if (count < 0) {
            if (Errno.isInterrupted(count)) {
                return 0;
            }
            throw new ErrnoException("epoll_wait", epoll.fd(), -count);
        }
        return count;
    }

    private int awaitNanos(long timeoutNanos, int maxEvents) {
        long timeout = 0;
        if (timeoutNanos >= 0) {
            timeout = timespec;
            Posix.putLong(timespec, timeoutNanos / 1_000_000_000);
            Posix.putLong(timespec + 8, timeoutNanos % 1_000_000_000);
        }
        int count = Calls.pwait2(waitState, epoll.fd(), events, maxEvents, timeout);
        if (count == -Errno.ENOSYS.code() || count == -Errno.EPERM.code()) {
            nanosecondWaits = false;
            return awaitMillis(timeoutNanos, maxEvents);
        }
        return count;
    }

    private int awaitMillis(long timeoutNanos, int maxEvents) {
        return Calls.wait(waitState, epoll.fd(), events, maxEvents, Millis.ceil(timeoutNanos));
    }

    @Override
    public long key(int event) {
        return Posix.getLong(events + (long) event * EVENT_BYTES + DATA_OFFSET);
    }

    @Override
    public int readiness(int event) {
        return translate(Posix.getInt(events + (long) event * EVENT_BYTES));
    }

    @Override
    public void wake() {
        wakeFd.wake();
    }

    @Override
    public void close() {
        epoll.close();
        wakeFd.close();
        eventsArena.close();
        arena.close();
    }

    /** Returns the mask for the kernel. */
    static int mask(int interest, int trigger) {
        int mask = 0;
        if ((interest & Bits.READABLE) != 0) {
            mask |= EPOLLIN | EPOLLRDHUP;
        }
        if ((interest & Bits.WRITABLE) != 0) {
            mask |= EPOLLOUT;
        }
        if ((interest & Bits.PRIORITY) != 0) {
            mask |= EPOLLPRI;
        }
        if (interest == 0) {
            // The kernel reports hang-up and error nevertheless; as an edge, only once.
            return EPOLLET;
        }
        return switch (trigger) {
            case Bits.EDGE -> mask | EPOLLET;
            case Bits.ONESHOT -> mask | EPOLLET | EPOLLONESHOT;
            default -> mask;
        };
    }

    /** A hang-up counts as readable, because a read will not block; an error counts for every direction. */
    static int translate(int mask) {
        int bits = 0;
        if ((mask & EPOLLIN) != 0) {
            bits |= Bits.READABLE;
        }
        if ((mask & EPOLLOUT) != 0) {
            bits |= Bits.WRITABLE;
        }
        if ((mask & (EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
            bits |= translateRare(mask);
        }
        return bits;
    }

    private static int translateRare(int mask) {
        int bits = 0;
        if ((mask & EPOLLPRI) != 0) {
            bits |= Bits.PRIORITY;
        }
        if ((mask & EPOLLRDHUP) != 0) {
            bits |= Bits.READABLE | Bits.READ_CLOSED;
        }
        if ((mask & EPOLLHUP) != 0) {
            bits |= Bits.READABLE | Bits.READ_CLOSED | Bits.WRITE_CLOSED;
        }
        if ((mask & EPOLLERR) != 0) {
            bits |= Bits.READABLE | Bits.WRITABLE | Bits.ERROR;
        }
        return bits;
    }

    private void grow(int capacity) {
        Arena larger = Arena.ofShared();
        events = larger.allocate((long) capacity * EVENT_BYTES, 8).address();
        eventsCapacity = capacity;
        eventsArena.close();
        eventsArena = larger;
    }

    @Override
    public String toString() {
        return "epoll selector, " + epoll;
    }

    @SuppressWarnings("serial")
    static final class Calls extends NotInlined {
        static final MethodHandle CREATE1 = Native.link("epoll_create1", 1);
        static final MethodHandle CTL = Native.link("epoll_ctl", 4);
        static final MethodHandle WAIT = Native.link("epoll_wait", 4);
        static final @Nullable MethodHandle PWAIT2 = Native.has("epoll_pwait2") ? Native.link("epoll_pwait2", 5) : null;

        private Calls() {}

        static int create1(CallState state) {
            try {
                return state.result((long) CREATE1.invokeExact(state.segment, (long) EPOLL_CLOEXEC));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static int ctl(CallState state, int epoll, int op, int fd, int mask, long key) {
            long event = state.scratch();
            Posix.putInt(event, mask);
            Posix.putLong(event + DATA_OFFSET, key);
            try {
                return state.result((long) CTL.invokeExact(state.segment, (long) epoll, (long) op, (long) fd, event));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static int wait(CallState state, int epoll, long events, int maxEvents, int millis) {
            try {
                return state.result(
                        (long) WAIT.invokeExact(state.segment, (long) epoll, events, (long) maxEvents, (long) millis));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        @SuppressWarnings("NullAway") // only called if PWAIT2 was found
        static int pwait2(CallState state, int epoll, long events, int maxEvents, long timespec) {
            try {
                return state.result(
                        (long) PWAIT2.invokeExact(state.segment, (long) epoll, events, (long) maxEvents, timespec, 0L));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }
}
