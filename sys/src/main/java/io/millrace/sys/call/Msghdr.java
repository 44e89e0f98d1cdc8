package io.millrace.sys.call;

/**
 * {@code struct msghdr}, which recvmsg and sendmsg take: where the name goes, where the bytes are, and the flags that come back.
 *
 * <pre>
 *        0      8               16        24             32        40                44      48
 * Linux  | name | name length   | iovecs  | their count  | control | control length (8 bytes) | flags |
 * BSD    | name | name length   | iovecs  | their count  | control | control length  | flags |
 * </pre>
 *
 * The count has 8 bytes on Linux and 4 on the BSDs, with 4 of padding; those are little-endian machines, where both look the same.
 */
public final class Msghdr {
    public static final int BYTES = 56;
    /** {@code struct iovec}: an address and a length. */
    public static final int IOVEC_BYTES = 16;

    private static final boolean BSD = Os.current().isBsd();
    private static final int NAME_LENGTH = 8;
    private static final int IOVECS = 16;
    private static final int COUNT = 24;
    private static final int CONTROL = 32;
    private static final int CONTROL_LENGTH = 40;
    private static final int FLAGS = BSD ? 44 : 48;
    private static final int MSG_TRUNC = BSD ? 0x10 : 0x20;
    private static final int MSG_CTRUNC = BSD ? 0x20 : 0x8;

    private Msghdr() {}

    public static void put(long at, long name, int nameBytes, long iovecs, int count) {
        Posix.putLong(at, name);
        Posix.putLong(at + NAME_LENGTH, 0);
        Posix.putInt(at + NAME_LENGTH, nameBytes);
        Posix.putLong(at + IOVECS, iovecs);
        Posix.putLong(at + COUNT, count);
        Posix.putLong(at + CONTROL, 0);
        Posix.putLong(at + CONTROL_LENGTH, 0);
        Posix.putInt(at + FLAGS, 0);
    }

    /** Sets where control messages are, or go. */
    public static void putControl(long at, long control, int bytes) {
        Posix.putLong(at + CONTROL, control);
        Posix.putInt(at + CONTROL_LENGTH, bytes);
    }

    /** Returns how many bytes of control messages were received. */
    public static int controlLength(long at) {
        return Posix.getInt(at + CONTROL_LENGTH);
    }

    /** Whether control messages were lost, because there was no room for them or no free descriptor. */
    public static boolean wasControlTruncated(long at) {
        return (Posix.getInt(at + FLAGS) & MSG_CTRUNC) != 0;
    }

    public static void putIovec(long at, long address, long bytes) {
        Posix.putLong(at, address);
        Posix.putLong(at + 8, bytes);
    }

    public static int nameLength(long at) {
        return Posix.getInt(at + NAME_LENGTH);
    }

    /** Whether the datagram was longer than the room for it. */
    public static boolean wasTruncated(long at) {
        return (Posix.getInt(at + FLAGS) & MSG_TRUNC) != 0;
    }
}
