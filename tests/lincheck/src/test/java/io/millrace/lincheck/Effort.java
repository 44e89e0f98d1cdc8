package io.millrace.lincheck;

/**
 * How much a model check looks at: little in {@code mvn verify}, five times as much under {@code -Psoak}. The longest test takes up
 * to a minute in a build; with twenty times the effort, all of them together would take more than an hour.
 */
public final class Effort {
    private static final int FACTOR = Boolean.getBoolean("millrace.soak") ? 5 : 1;

    private Effort() {}

    /** The number of interleavings, or of anything else that costs time. */
    public static int times(int usual) {
        return usual * FACTOR;
    }
}
