package io.millrace.engine;

/**
 * How urgent work is: one scale for I/O, alarms and tasks.
 *
 * <p>In each turn of a reactor, work of higher priority runs first; work of the same priority runs in the order of
 * arrival. Work that is queued during a turn waits for the next one. In each turn, every priority runs at most its
 * budget, and at least one item if it has any; so LOW work waits, but never starves.
 */
public enum Priority {
    /** Work for when nothing else needs to run. */
    LOW(0),
    /** The default; gRPC's MED. */
    NORMAL(1),
    /** Runs before normal work. */
    HIGH(2),
    /** Mill-IO's Critical. */
    IMMEDIATE(3),
    /** The engine's own work, and whatever keeps the engine alive. */
    SYSTEM(4);

    /** The lowest priority. */
    public static final Priority MIN = LOW;

    /** The highest priority. */
    public static final Priority MAX = SYSTEM;

    private final int level;

    Priority(int level) {
        this.level = level;
    }

    /**
     * Returns the number of this priority on the scale.
     *
     * @return from 0 for {@link #LOW} to 4 for {@link #SYSTEM}
     */
    public int level() {
        return level;
    }
}
