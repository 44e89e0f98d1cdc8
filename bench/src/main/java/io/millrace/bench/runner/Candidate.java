package io.millrace.bench.runner;

import java.io.IOException;
import java.util.Map;

/** A program, or a part of one, that can be measured as often as there are rounds. */
public interface Candidate {
    String name();

    /** How it was started, for the record. */
    default String command() {
        return "";
    }

    /** Whether it gets better with time, and so must be warm before it is measured. */
    default boolean compiles() {
        return false;
    }

    /**
     * Called once before the first round, if it compiles.
     *
     * @return whether its compilation has settled, in words
     */
    default String warmUp() throws IOException, InterruptedException {
        return "";
    }

    /** Figures by name. Fails with one line that says why. */
    Map<String, Double> measure() throws IOException, InterruptedException;
}
