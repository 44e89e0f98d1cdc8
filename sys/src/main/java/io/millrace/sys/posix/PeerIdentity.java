package io.millrace.sys.posix;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.lang.invoke.MethodHandle;

/**
 * Who is at the other end of a Unix socket, as the kernel knows it: the process that connected, or that began to listen.
 *
 * @param pid −1 where the system does not say
 * @param uid the effective user
 * @param gid the effective group
 */
public record PeerIdentity(int pid, int uid, int gid) {
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SOL_LOCAL = 0;
    private static final int LOCAL_PEERPID = 2;
    private static final int UCRED_BYTES = 12;

    /** Asks for the peer of a connected socket. */
    public static PeerIdentity of(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            long at = state.scratch();
            long length = at + 16;
            if (!Os.current().isBsd()) { // struct ucred: pid, uid, gid
                Posix.putInt(length, UCRED_BYTES);
                int result = Sockets.getOption(state, fd, SOL_SOCKET, SO_PEERCRED, at, length);
                Downcall.check("getsockopt(SO_PEERCRED)", fd, result);
                return new PeerIdentity(Posix.getInt(at), Posix.getInt(at + 4), Posix.getInt(at + 8));
            }
            Downcall.check("getpeereid", fd, Downcall.run(state, Bsd.GETPEEREID, fd, at, at + 4));
            int uid = Posix.getInt(at);
            int gid = Posix.getInt(at + 4);
            Posix.putInt(length, 4);
            boolean known =
                    Os.current() == Os.MACOS && Sockets.getOption(state, fd, SOL_LOCAL, LOCAL_PEERPID, at, length) == 0;
            return new PeerIdentity(known ? Posix.getInt(at) : -1, uid, gid);
        }
    }

    /** Returns the effective user of this process. */
    public static int ownUser() {
        try (CallState state = CallState.borrow()) {
            return Downcall.run(state, Own.GETEUID, 0); // which takes no argument, and never fails
        }
    }

    private static final class Bsd {
        static final MethodHandle GETPEEREID = Native.link("getpeereid", 3);
    }

    private static final class Own {
        static final MethodHandle GETEUID = Native.link("geteuid", 1);
    }
}
