package io.millrace.engine.recorder;

import io.millrace.engine.LoopView;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The loops of this JVM that are open, for events that are recorded periodically, each with a note about its last event.
 * The note goes with the loop, so a recording that has ended keeps no loop alive. Any thread.
 */
public final class OpenLoops {
    private static final Map<LoopView, Note> OPEN = new ConcurrentHashMap<>();

    private OpenLoops() {}

    /** What is kept of a loop's last event. */
    interface Note {}

    private enum Unnoted implements Note {
        NOTHING
    }

    /** A loop was opened. {@link #remove} must follow when it has ended. */
    public static void add(LoopView loop) {
        OPEN.put(loop, Unnoted.NOTHING);
    }

    public static void remove(LoopView loop) {
        OPEN.remove(loop);
    }

    /** Calls a function with each loop and the note that it returned the last time. */
    static void replaceNotes(BiFunction<LoopView, @Nullable Note, Note> each) {
        // Present only: a loop that ends meanwhile must not come back.
        OPEN.keySet().forEach(loop -> OPEN.computeIfPresent(loop, each));
    }
}
