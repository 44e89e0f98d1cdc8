package io.millrace.sys.call;

import java.util.Locale;

/** The error numbers that we handle or name; they differ between Linux and the BSDs. */
public enum Errno {
    EPERM(1, 1, "operation not permitted"),
    ENOENT(2, 2, "no such file or directory"),
    ESRCH(3, 3, "no such process"),
    EINTR(4, 4, "interrupted"),
    EIO(5, 5, "input/output error"),
    ENXIO(6, 6, "no such device, or a pipe without a reader"),
    E2BIG(7, 7, "arguments and variables are too large"),
    ENOEXEC(8, 8, "not a program"),
    EBADF(9, 9, "not an open file descriptor"),
    ECHILD(10, 10, "no such child"),
    EAGAIN(11, 35, "would block"),
    ENOMEM(12, 12, "out of memory"),
    EACCES(13, 13, "permission denied"),
    EFAULT(14, 14, "bad address"),
    EEXIST(17, 17, "already exists"),
    ENOTDIR(20, 20, "not a directory"),
    EISDIR(21, 21, "is a directory"),
    EINVAL(22, 22, "invalid argument"),
    ENFILE(23, 23, "the system's table of open files is full"),
    EMFILE(24, 24, "too many open files in this process"),
    ENOSPC(28, 28, "no space left"),
    ESPIPE(29, 29, "cannot seek"),
    EPIPE(32, 32, "the other end is closed"),
    ENAMETOOLONG(36, 63, "name too long"),
    ENOSYS(38, 78, "the kernel has no such call"),
    ENONET(64, -1, "not on the network"),
    EPROTO(71, Os.current() == Os.MACOS ? 100 : 92, "protocol error"),
    EOVERFLOW(75, 84, "larger than the system can count"),
    ENOTSOCK(88, 38, "not a socket"),
    EMSGSIZE(90, 40, "message too long"),
    EPROTOTYPE(91, 41, "wrong type of socket"),
    ENOPROTOOPT(92, 42, "no such option"),
    EOPNOTSUPP(95, 45, "not supported"),
    EAFNOSUPPORT(97, 47, "address family not supported"),
    EADDRINUSE(98, 48, "address already in use"),
    EADDRNOTAVAIL(99, 49, "address not available on this machine"),
    ENETDOWN(100, 50, "network down"),
    ENETUNREACH(101, 51, "network unreachable"),
    ECONNABORTED(103, 53, "connection aborted"),
    ECONNRESET(104, 54, "connection reset by peer"),
    ENOBUFS(105, 55, "no buffer space"),
    ENOTCONN(107, 57, "not connected"),
    ETIMEDOUT(110, 60, "timed out"),
    ECONNREFUSED(111, 61, "connection refused"),
    EHOSTDOWN(112, 64, "host down"),
    EHOSTUNREACH(113, 65, "host unreachable"),
    EALREADY(114, 37, "already in progress"),
    EINPROGRESS(115, 36, "in progress");

    private static final Errno[] VALUES = values();
    private static final int INTERRUPTED = -EINTR.code;
    private static final int WOULD_BLOCK = -EAGAIN.code;

    private final int code;
    private final String meaning;

    Errno(int linux, int bsd, String meaning) {
        this.code = Os.current().isBsd() ? bsd : linux;
        this.meaning = meaning;
    }

    /** Returns this system's number. */
    public int code() {
        return code;
    }

    /**
     * Returns whether this result, a count or {@code -errno}, means that a signal interrupted the call; then it is made
     * again, except close(2).
     */
    public static boolean isInterrupted(long result) {
        return result == INTERRUPTED;
    }

    /** Returns whether this result, a count or {@code -errno}, means that the call would have blocked. */
    public static boolean isWouldBlock(long result) {
        return result == WOULD_BLOCK;
    }

    /**
     * Returns, for example, {@code EMFILE (too many open files in this process)}, or {@code errno 71} for one that has
     * no name here.
     */
    public static String describe(int code) {
        for (Errno errno : VALUES) {
            if (errno.code == code) {
                return errno.name() + " (" + errno.meaning + ")";
            }
        }
        return String.format(Locale.ROOT, "errno %d", code);
    }
}
