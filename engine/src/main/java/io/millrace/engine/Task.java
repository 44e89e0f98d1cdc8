package io.millrace.engine;

import java.util.Objects;

/**
 * A task with a priority, for {@link EventManager#runAll}.
 *
 * @param work what to run
 * @param priority how urgent it is
 */
public record Task(Runnable work, Priority priority) {
    /** Rejects nulls. */
    public Task {
        Objects.requireNonNull(work, "work");
        Objects.requireNonNull(priority, "priority");
    }

    /**
     * Creates a task of normal priority.
     *
     * @param work what to run
     */
    public Task(Runnable work) {
        this(work, Priority.NORMAL);
    }
}
