package io.millrace.sys.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * Links C functions as method handles, and reads their results.
 *
 * <p>Every function is linked in one of a few shapes: n arguments of 64 bits and a result of 64 bits. Registers are 64
 * bits wide on the supported CPUs, so an {@code int} or a pointer is passed in a {@code long}; the callee ignores the
 * upper half, and an {@code int} result is cut down by a cast. Sharing shapes matters: the first handle of a new shape
 * costs milliseconds, each further one 0.2 ms.
 *
 * <p>{@code errno} is captured on every call (3 ns; a second call to get it would double the cost of would-block).
 * Results follow the kernel's own convention: a negative value is {@code -errno}.
 */
@SuppressWarnings("restricted")
public final class Native {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
    private static final int MAX_ARGUMENTS = 6;

    private Native() {}

    /** Links a function of the C library. Called lazily from holder classes, so that only what is used is linked. */
    public static MethodHandle link(String name, int arguments) {
        return link(LINKER.defaultLookup(), name, arguments);
    }

    /** Links a variadic function, whose arguments from {@code firstVariadic} on follow other rules on some ABIs. */
    public static MethodHandle linkVariadic(String name, int arguments, int firstVariadic) {
        return LINKER.downcallHandle(
                address(LINKER.defaultLookup(), name),
                shape(arguments),
                CAPTURE,
                Linker.Option.firstVariadicArg(firstVariadic));
    }

    public static MethodHandle link(SymbolLookup lookup, String name, int arguments) {
        return LINKER.downcallHandle(address(lookup, name), shape(arguments), CAPTURE);
    }

    /**
     * Links a function that has a user's segment as one of its arguments. The call keeps the segment's arena open:
     * closing it meanwhile fails.
     */
    public static MethodHandle linkWithSegment(String name, int arguments, int segmentAt) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        layouts[segmentAt] = ValueLayout.ADDRESS;
        return LINKER.downcallHandle(
                address(LINKER.defaultLookup(), name), FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts), CAPTURE);
    }

    public static boolean has(String name) {
        return LINKER.defaultLookup().find(name).isPresent();
    }

    private static MemorySegment address(SymbolLookup lookup, String name) {
        return lookup.find(name).orElseThrow(() -> new UnsatisfiedLinkError("the C library has no function " + name));
    }

    private static FunctionDescriptor shape(int arguments) {
        assert arguments <= MAX_ARGUMENTS : "more than six integer arguments would not all be in registers";
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts);
    }

    /** For a failed {@code invokeExact}, which is a bug of ours and never a result of the call. */
    public static AssertionError unexpected(Throwable thrown) {
        return new AssertionError("a downcall threw; this is a bug in Millrace", thrown);
    }

    /**
     * For what a call with a user's segment threw: a segment that is freed, or that this thread may not use, is refused
     * before the function is called, and the user must see that exception.
     */
    public static RuntimeException refusedSegment(Throwable thrown) {
        if (thrown instanceof IllegalStateException || thrown instanceof WrongThreadException) {
            return (RuntimeException) thrown;
        }
        throw unexpected(thrown);
    }

    /** All of memory as one segment, to read and write at absolute addresses that the library itself allocated. */
    public static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    /** Allocates memory that lives until the process ends, for the few static tables. */
    public static long allocateForever(long bytes, long alignment) {
        return Arena.global().allocate(bytes, alignment).address();
    }
}
