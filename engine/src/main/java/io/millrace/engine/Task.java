package io.millrace.engine;

import java.util.Objects;

/**
 * One of several tasks handed over together: see {@link EventManager#runAll}.
 *
 * @param work what to run
 * @param priority how urgent it is
 */
public record Task(Runnable work, Priority priority) {
    /** Refuses nulls. */
    public Task {
        Objects.requireNonNull(work, "work");
        Objects.requireNonNull(priority, "priority");
    }

    /**
     * A task of normal priority.
     *
     * @param work what to run
     */
    public Task(Runnable work) {
        this(work, Priority.NORMAL);
    }
}
