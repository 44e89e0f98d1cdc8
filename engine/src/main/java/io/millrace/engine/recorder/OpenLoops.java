package io.millrace.engine.recorder;

import io.millrace.engine.LoopView;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The loops of this JVM that are open, for events that are recorded periodically. Any thread. */
public final class OpenLoops {
    private static final Set<LoopView> OPEN = ConcurrentHashMap.newKeySet();

    private OpenLoops() {}

    /** A loop was opened. {@link #remove} must follow when it has ended. */
    public static void add(LoopView loop) {
        OPEN.add(loop);
    }

    public static void remove(LoopView loop) {
        OPEN.remove(loop);
    }

    static boolean contains(LoopView loop) {
        return OPEN.contains(loop);
    }

    static void forEach(Consumer<LoopView> each) {
        OPEN.forEach(each);
    }
}
