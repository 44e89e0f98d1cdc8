package io.millrace.sys.posix;

import static io.millrace.sys.call.Native.MEMORY;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Datagrams to a Unix socket. */
public final class UnixDatagrams {
    private UnixDatagrams() {}

    /**
     * Sends one datagram and does not wait for an answer.
     *
     * @param name a path, or a zero byte followed by a name in Linux's abstract namespace
     */
    public static void send(byte[] name, byte[] datagram) throws ErrnoException {
        Sockets.requireFitting("sendto", name);
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            int fd = Downcall.check("socket", -1, Sockets.open(state, SocketAddressCodec.UNIX, Sockets.SOCK_DGRAM));
            try {
                int length = SocketAddressCodec.current().encodeUnix(name, MEMORY, state.scratch());
                long data = arena.allocateFrom(ValueLayout.JAVA_BYTE, datagram).address();
                int result = Downcall.run(
                        state,
                        Sending.SENDTO,
                        fd,
                        data,
                        datagram.length,
                        Sockets.MSG_NOSIGNAL,
                        state.scratch(),
                        length);
                Downcall.check("sendto", fd, result);
            } finally {
                Posix.close(state, fd);
            }
        }
    }

    private static final class Sending {
        static final MethodHandle SENDTO = Native.link("sendto", 6);
    }
}
