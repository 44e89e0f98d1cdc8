package io.millrace.sys.call;

import java.lang.invoke.MethodHandle;

/**
 * Calls a function with a given number of arguments, for calls that are not on a hot path: the handle is not a constant
 * here, so a call costs some nanoseconds more. Returns the function's result, or {@code -errno}.
 */
public final class Downcall {
    private Downcall() {}

    public static int run(MethodHandle function, long a, long b) {
        try (CallState state = CallState.borrow()) {
            return run(state, function, a, b);
        }
    }

    public static int run(CallState state, MethodHandle function, long a) {
        try {
            return state.result((long) function.invokeExact(state.segment, a));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int run(CallState state, MethodHandle function, long a, long b) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int run(CallState state, MethodHandle function, long a, long b, long c) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int run(CallState state, MethodHandle function, long a, long b, long c, long d) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c, d));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int run(CallState state, MethodHandle function, long a, long b, long c, long d, long e) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c, d, e));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int run(CallState state, MethodHandle function, long a, long b, long c, long d, long e, long f) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c, d, e, f));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /** Returns the result, or throws an exception that names the call. */
    public static int check(String name, int fd, int result) throws ErrnoException {
        if (result < 0) {
            throw new ErrnoException(name, fd, -result);
        }
        return result;
    }
}
