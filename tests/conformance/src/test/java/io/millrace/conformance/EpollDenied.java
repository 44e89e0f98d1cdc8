package io.millrace.conformance;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * A seccomp filter as a container's policy may have one: epoll_create1 fails with EPERM. It holds for the calling thread and
 * those that it starts, until the process ends; so it is for a child JVM.
 */
@SuppressWarnings("restricted")
final class EpollDenied {
    private static final long PR_SET_NO_NEW_PRIVS = 38;
    private static final long PR_SET_SECCOMP = 22;
    private static final long SECCOMP_MODE_FILTER = 2;
    private static final int SECCOMP_RET_ALLOW = 0x7fff0000;
    private static final int SECCOMP_RET_EPERM = 0x00050001;

    // Of struct sock_filter {short code; byte jt; byte jf; int k}.
    private static final short LOAD_WORD = 0x20;
    private static final short JUMP_IF_EQUAL = 0x15;
    private static final short RETURN = 0x06;

    /** The same number on every machine. */
    private static final int EPOLL_PWAIT2 = 441;

    private EpollDenied() {}

    /** Which machines' numbers we know. */
    static boolean isPossible() {
        return System.getProperty("os.name", "").equals("Linux") && epollCreate1() >= 0;
    }

    private static int epollCreate1() {
        return switch (System.getProperty("os.arch", "")) {
            case "amd64" -> 291;
            case "aarch64" -> 20;
            default -> -1;
        };
    }

    static void forThisThread() {
        deny(epollCreate1());
    }

    /** Only the wait in nanoseconds, as by a policy that is older than that call. */
    static void nanosecondsForThisThread() {
        deny(EPOLL_PWAIT2);
    }

    private static void deny(int call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = arena.allocate(4 * 8, 8);
            instruction(filter, 0, LOAD_WORD, 0, 0, 0); // the system call's number
            instruction(filter, 1, JUMP_IF_EQUAL, 0, 1, call);
            instruction(filter, 2, RETURN, 0, 0, SECCOMP_RET_EPERM);
            instruction(filter, 3, RETURN, 0, 0, SECCOMP_RET_ALLOW);
            MemorySegment program = arena.allocate(16, 8);
            program.set(ValueLayout.JAVA_SHORT, 0, (short) 4);
            program.set(ValueLayout.ADDRESS, 8, filter);
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0);
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program.address());
        }
    }

    private static void instruction(MemorySegment filter, int at, short code, int ifTrue, int ifFalse, int operand) {
        long offset = at * 8L;
        filter.set(ValueLayout.JAVA_SHORT, offset, code);
        filter.set(ValueLayout.JAVA_BYTE, offset + 2, (byte) ifTrue);
        filter.set(ValueLayout.JAVA_BYTE, offset + 3, (byte) ifFalse);
        filter.set(ValueLayout.JAVA_INT, offset + 4, operand);
    }

    private static void prctl(long option, long second, long third) {
        Linker linker = Linker.nativeLinker();
        MethodHandle call = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        int result;
        try {
            result = (int) call.invokeExact(option, second, third, 0L, 0L);
        } catch (Throwable thrown) {
            throw new AssertionError("prctl cannot be called", thrown);
        }
        if (result != 0) {
            throw new IllegalStateException("prctl(" + option + ") failed: this kernel has no seccomp filters");
        }
    }
}
