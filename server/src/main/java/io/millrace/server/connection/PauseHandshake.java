package io.millrace.server.connection;

import io.millrace.server.Connection;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How one side of a relay waits until the other connection takes bytes again, though the two may have different threads.
 *
 * <ol>
 *   <li>This side finds the other full. It pauses its own connection, notes that it waits, and then asks the other connection once more.
 *   <li>When the other connection takes bytes again, its side takes the note, and whoever takes the note resumes.
 * </ol>
 *
 * If the other side is told before the note is there, the question comes after that, and this side resumes by itself: no resume is lost. A pause is asked for before its note is there, and a resume after the note was taken; so a
 * resume is never overtaken by its own pause. A resume that belongs to an older pause costs one read too many, after which this side pauses again.
 */
abstract class PauseHandshake {
    private static final VarHandle WAITING;

    static {
        try {
            WAITING = MethodHandles.lookup().findVarHandle(PauseHandshake.class, "waiting", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile boolean waiting;

    /** On this side's thread: the other connection is full. */
    final void pauseUntilWritable() {
        setPaused(true);
        waiting = true;
        if (isOtherWritable()) {
            resume();
        }
    }

    /** Any thread: the other connection takes bytes. */
    final void resume() {
        if (waiting && WAITING.compareAndSet(this, true, false)) {
            setPaused(false);
        }
    }

    /** Has this side's connection read or not. Any thread; done in the order of the calls. */
    abstract void setPaused(boolean paused);

    /** As {@link Connection#isWritable}: if it says no, {@link #resume} will be called. */
    abstract boolean isOtherWritable();
}
