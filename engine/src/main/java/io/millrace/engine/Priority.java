package io.millrace.engine;

/**
 * How urgent work is: one scale for I/O, alarms and tasks.
 *
 * <p>In a reactor's turn the higher classes run first, and within a class the order is that of arrival. Work that is queued during a turn
 * waits for the next. Each class runs at least one item and at most its budget in a turn; so what is LOW waits, and never starves.
 */
public enum Priority {
    /** When nothing else is to be done. */
    LOW(0),
    /** Where nothing else is said; gRPC's MED. */
    NORMAL(1),
    /** Before what is normal. */
    HIGH(2),
    /** Mill-IO's Critical. */
    IMMEDIATE(3),
    /** The engine's own, and for what keeps the engine alive. */
    SYSTEM(4);

    /** The lowest. */
    public static final Priority MIN = LOW;

    /** The highest. */
    public static final Priority MAX = SYSTEM;

    private final int level;

    Priority(int level) {
        this.level = level;
    }

    /**
     * Its number on the scale.
     *
     * @return 0 for {@link #LOW} to 4 for {@link #SYSTEM}
     */
    public int level() {
        return level;
    }
}
