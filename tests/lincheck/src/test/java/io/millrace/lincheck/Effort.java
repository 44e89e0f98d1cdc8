package io.millrace.lincheck;

/** How much a model check looks at: little in {@code mvn verify}, twenty times as much under {@code -Psoak}. */
public final class Effort {
    private static final int FACTOR = Boolean.getBoolean("millrace.soak") ? 20 : 1;

    private Effort() {}

    /** The number of interleavings, or of anything else that costs time. */
    public static int times(int usual) {
        return usual * FACTOR;
    }
}
