package io.millrace.engine.pool;

import io.millrace.engine.Priority;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * What a {@link ComputePool} has done and what it has to do, at one moment: all numbers are of the same moment, so that always
 *
 * <pre>submitted = completed + failed + cancelled + active + depth</pre>
 *
 * <p>A task is counted as completed or failed before its future is: who has seen a future done finds its task in the next snapshot.
 *
 * @param submitted tasks that were accepted
 * @param completed tasks that returned
 * @param failed tasks that threw
 * @param cancelled tasks that were taken out of the queue, or whose future was done already when their turn came; they never ran
 * @param rejected tasks that were refused, because the queue was full or the pool shut down; they are not part of {@code submitted}
 * @param active tasks that are running
 * @param depths how many tasks wait, for each priority that they were submitted with
 * @param executionTime how long the tasks that completed or failed have run, all together
 */
public record ComputePoolMetrics(
        long submitted,
        long completed,
        long failed,
        long cancelled,
        long rejected,
        int active,
        Map<Priority, Integer> depths,
        Duration executionTime) {
    /** Copies the map. A priority that it leaves out counts as 0. */
    public ComputePoolMetrics {
        Objects.requireNonNull(executionTime, "executionTime");
        EnumMap<Priority, Integer> all = new EnumMap<>(Priority.class);
        for (Priority priority : Priority.values()) {
            all.put(priority, depths.getOrDefault(priority, 0));
        }
        depths = Collections.unmodifiableMap(all);
    }

    /**
     * How many tasks of one class wait.
     *
     * @param priority the one that they were submitted with, even if they have aged
     * @return the number of tasks
     */
    public int depth(Priority priority) {
        return depths.getOrDefault(priority, 0);
    }

    /**
     * How many tasks wait.
     *
     * @return the sum over all priorities
     */
    public int depth() {
        return depths.values().stream().mapToInt(Integer::intValue).sum();
    }
}
