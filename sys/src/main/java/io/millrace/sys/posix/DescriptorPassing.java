package io.millrace.sys.posix;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Msghdr;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Descriptors that travel with the bytes of a Unix stream socket (SCM_RIGHTS): the receiver gets numbers of its own for
 * the same open files. They arrive together with the first byte that they were sent with.
 *
 * <p>What is received is close-on-exec from the first moment, except on macOS, where that takes a second call.
 *
 * <p>A control message is a {@code struct cmsghdr} and the numbers, four bytes each:
 *
 * <pre>
 *          0                     4       8       12      16
 * Linux    | length (8 bytes)    |       | level | type  | numbers, padded to 8
 * macOS    | length | level      | type  | numbers, padded to 4
 * FreeBSD  | length | level      | type  | 4 of padding | numbers, padded to 8
 * </pre>
 *
 * The length counts from the beginning of the struct to the end of the last number.
 */
public final class DescriptorPassing {
    /** How many descriptors one message may carry: SCM_MAX_FD of Linux; what others allow is less. */
    public static final int MOST = 253;

    /**
     * What was received.
     *
     * @param bytes their count, 0 at the end of the stream, or {@code -errno}
     * @param passed numbers, which must be closed by the caller
     * @param lost whether there were more descriptors, which this process could not take, and which are gone
     */
    public record Received(long bytes, List<Integer> passed, boolean lost) {}

    private static final boolean BSD = Os.current().isBsd();

    private static final int LEVEL = BSD ? 4 : 8;
    private static final int TYPE = BSD ? 8 : 12;
    private static final int NUMBERS = Os.current() == Os.MACOS ? 12 : 16;
    private static final int ALIGNMENT = Os.current() == Os.MACOS ? 4 : 8;
    private static final int NUMBER_BYTES = 4;

    private static final int SOL_SOCKET = BSD ? 0xffff : 1;
    private static final int SCM_RIGHTS = 1;
    /** MSG_CMSG_CLOEXEC; macOS has none. */
    private static final long CLOSE_ON_EXEC = switch (Os.current()) {
        case LINUX, OTHER -> 0x40000000;
        case FREEBSD -> 0x40000;
        case MACOS -> 0;
    };

    /** As much as one call moves; those who pass descriptors send little else. */
    private static final int MOST_BYTES = 64 << 10;

    // Places in the memory of a call.
    private static final int IOVEC = Msghdr.BYTES + 8;
    private static final int CONTROL = IOVEC + Msghdr.IOVEC_BYTES;
    private static final int CONTROL_BYTES = space(MOST);
    private static final int DATA = CONTROL + CONTROL_BYTES;

    private DescriptorPassing() {}

    /**
     * Sends bytes together with descriptors, of which uses are held. The buffer's position does not change.
     *
     * @param from not empty: there is no message without bytes on a stream
     * @param passed at most {@link #MOST}
     * @return the count of bytes, with which the descriptors are sent as well; or {@code -errno}
     */
    public static long send(int fd, ByteBuffer from, int... passed) {
        int bytes = Math.min(from.remaining(), MOST_BYTES);
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(DATA + bytes, 8);
            memory.asSlice(DATA).copyFrom(MemorySegment.ofBuffer(from).asSlice(0, bytes));
            long control = memory.address() + CONTROL;
            Posix.putInt(control, NUMBERS + passed.length * NUMBER_BYTES);
            Posix.putInt(control + LEVEL, SOL_SOCKET);
            Posix.putInt(control + TYPE, SCM_RIGHTS);
            for (int i = 0; i < passed.length; i++) {
                Posix.putInt(control + NUMBERS + (long) i * NUMBER_BYTES, passed[i]);
            }
            long header = header(memory, bytes, space(passed.length));
            return Sockets.sendMessage(state, fd, header, Sockets.MSG_NOSIGNAL);
        }
    }

    /**
     * Receives bytes and the descriptors that came with them: those of one message at most, because a call ends behind
     * bytes that have some. The buffer's position does not change.
     */
    public static Received receive(int fd, ByteBuffer into) throws ErrnoException {
        int bytes = Math.min(into.remaining(), MOST_BYTES);
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(DATA + bytes, 8);
            long header = header(memory, bytes, CONTROL_BYTES);
            long result = Sockets.receiveMessage(state, fd, header, CLOSE_ON_EXEC);
            if (result < 0) {
                return new Received(result, List.of(), false);
            }
            List<Integer> passed = passed(memory.address() + CONTROL, Msghdr.controlLength(header));
            MemorySegment.ofBuffer(into).copyFrom(memory.asSlice(DATA, result));
            return new Received(result, passed, Msghdr.wasControlTruncated(header));
        }
    }

    private static long header(MemorySegment memory, int bytes, int controlBytes) {
        long header = memory.address();
        Msghdr.putIovec(header + IOVEC, header + DATA, bytes);
        Msghdr.put(header, 0, 0, header + IOVEC, 1);
        Msghdr.putControl(header, header + CONTROL, controlBytes);
        return header;
    }

    private static List<Integer> passed(long control, int bytes) throws ErrnoException {
        List<Integer> passed = new ArrayList<>();
        int at = 0;
        while (at + NUMBERS <= bytes) {
            int length = Math.min(Posix.getInt(control + at), bytes - at);
            if (length < NUMBERS) {
                break;
            }
            if (Posix.getInt(control + at + LEVEL) == SOL_SOCKET && Posix.getInt(control + at + TYPE) == SCM_RIGHTS) {
                for (int n = NUMBERS; n + NUMBER_BYTES <= length; n += NUMBER_BYTES) {
                    passed.add(Posix.getInt(control + at + n));
                }
            }
            at += aligned(length);
        }
        if (CLOSE_ON_EXEC == 0) {
            for (int each : passed) {
                Fds.setCloseOnExec(each);
            }
        }
        return passed;
    }

    private static int space(int numbers) {
        return NUMBERS + aligned(numbers * NUMBER_BYTES);
    }

    private static int aligned(int bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
