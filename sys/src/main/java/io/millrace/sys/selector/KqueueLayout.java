package io.millrace.sys.selector;

import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.util.Locale;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * {@code struct kevent} and the constants of kqueue(2), by system.
 *
 * <p>All flavors begin alike; only FreeBSD 12 and newer goes on after {@code udata}:
 *
 * <pre>
 * offset  0  uintptr_t      ident
 *         8  short          filter
 *        10  unsigned short flags
 *        12  unsigned int   fflags
 *        16  int64_t        data
 *        24  void *         udata
 *        32  uint64_t       ext[4]     (FreeBSD)
 * </pre>
 */
enum KqueueLayout {
    MACOS(32, -10),
    FREEBSD(64, -11),
    /** The emulation for Linux: the size of macOS with FreeBSD's number for user events. */
    LIBKQUEUE(32, -11);

    static final String FLAVOR_PROPERTY = "millrace.kqueue.flavor";

    static final short EVFILT_READ = -1;
    static final short EVFILT_WRITE = -2;

    static final int EV_ADD = 0x0001;
    static final int EV_DELETE = 0x0002;
    static final int EV_CLEAR = 0x0020;
    static final int EV_RECEIPT = 0x0040;
    static final int EV_DISPATCH = 0x0080;
    static final int EV_ERROR = 0x4000;
    static final int EV_EOF = 0x8000;

    static final int NOTE_TRIGGER = 0x0100_0000;

    private static final int FILTER = 8;
    private static final int FLAGS = 10;
    private static final int FFLAGS = 12;
    private static final int DATA = 16;
    private static final int UDATA = 24;
    private static final int EXT = 32;

    /** The size of one {@code struct kevent}. */
    final int bytes;

    /** {@code EVFILT_USER}, the only filter whose number differs. */
    final short userFilter;

    KqueueLayout(int bytes, int userFilter) {
        this.bytes = bytes;
        this.userFilter = (short) userFilter;
    }

    /**
     * Returns the flavor that was asked for, or this system's own.
     *
     * @param flavor the value of {@link #FLAVOR_PROPERTY}, or null
     * @throws IllegalArgumentException if there is no flavor with that name
     */
    static KqueueLayout of(@Nullable String flavor) {
        if (flavor == null) {
            return switch (Os.current()) {
                case MACOS -> MACOS;
                case FREEBSD -> FREEBSD;
                default -> LIBKQUEUE;
            };
        }
        StringJoiner known = new StringJoiner(", ");
        for (KqueueLayout layout : values()) {
            if (layout.flavor().equals(flavor)) {
                return layout;
            }
            known.add(layout.flavor());
        }
        throw new IllegalArgumentException("there is no kqueue flavor " + flavor + "; there are " + known);
    }

    /** Returns its name in {@link #FLAVOR_PROPERTY}. */
    String flavor() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Writes a whole {@code struct kevent}; fields that are not given become 0. */
    void put(long address, long ident, short filter, int flags, int fflags, long udata) {
        Posix.putLong(address, ident);
        Posix.putShort(address + FILTER, filter);
        Posix.putShort(address + FLAGS, (short) flags);
        Posix.putInt(address + FFLAGS, fflags);
        Posix.putLong(address + DATA, 0);
        Posix.putLong(address + UDATA, udata);
        for (int offset = EXT; offset < bytes; offset += Long.BYTES) {
            Posix.putLong(address + offset, 0);
        }
    }

    static long ident(long address) {
        return Posix.getLong(address);
    }

    static short filter(long address) {
        return Posix.getShort(address + FILTER);
    }

    static int flags(long address) {
        return Posix.getShort(address + FLAGS) & 0xffff;
    }

    static int fflags(long address) {
        return Posix.getInt(address + FFLAGS);
    }

    static long data(long address) {
        return Posix.getLong(address + DATA);
    }

    static long udata(long address) {
        return Posix.getLong(address + UDATA);
    }
}
