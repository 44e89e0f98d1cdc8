package io.millrace.sys.call;

/**
 * For holders of calls that are made for every message: the just-in-time compiler compiles the methods of a subclass on their own, and never into their callers.
 *
 * <p>A downcall makes a slice of the segment for {@code errno}, ten calls deep in the JDK, and the compiler removes it only if it inlines all ten. It gives up 15 calls below
 * the method where it began. A server's code above the call is deep enough by itself; so whether a message cost 0, 40 or 80 bytes depended on which method
 * happened to be compiled last. Compiled on its own a call always gets its slice removed, and costs a real call, one or two nanoseconds.
 *
 * <p>HotSpot has no public way to ask for this. But it inlines no method of an exception into what is no exception, because those are rare. So this is one; nobody makes or
 * throws it. Where another compiler pays no heed to it, nothing but the allocation is lost; {@code EchoAllocationTest} would show it. See decision 12.
 */
@SuppressWarnings("serial") // there are no instances
public abstract class NotInlined extends Throwable {
    public NotInlined() {
        throw new AssertionError("only its static methods are of use");
    }
}
