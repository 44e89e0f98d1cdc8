package io.millrace.sys.call;

/**
 * A superclass for holders of calls that are made for every message: the just-in-time compiler compiles their methods
 * separately, and never inlines them into their callers.
 *
 * <p>A downcall creates a slice of the segment for {@code errno}, ten calls deep in the JDK, and the compiler removes
 * it only if it inlines all ten. It gives up 15 calls below the method where it began, and a server's code above the
 * call is deep enough by itself. So whether a message cost 0, 40 or 80 bytes depended on which method happened to be
 * compiled last. Compiled separately, a call always gets its slice removed, and costs a real call, one or two
 * nanoseconds.
 *
 * <p>HotSpot has no public way to ask for this. But it does not inline methods of an exception into code that is not an
 * exception, because those are rare. So this is an exception class that is never instantiated or thrown. With another
 * compiler, nothing but the allocation is lost; {@code EchoAllocationTest} would show it. See decision 12.
 */
@SuppressWarnings("serial") // there are no instances
public abstract class NotInlined extends Throwable {
    public NotInlined() {
        throw new AssertionError("only its static methods are of use");
    }
}
