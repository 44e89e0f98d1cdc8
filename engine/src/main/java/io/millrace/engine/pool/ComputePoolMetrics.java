package io.millrace.engine.pool;

import io.millrace.engine.Priority;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * What a {@link ComputePool} has done and has still to do. All numbers are of the same moment, so this always holds:
 * <pre>submitted = completed + failed + cancelled + active + depth</pre>
 *
 * <p>A task is counted as completed or failed before its future is completed, so a snapshot taken after a future is
 * done includes its task.
 *
 * @param submitted tasks that were accepted
 * @param completed tasks that returned
 * @param failed tasks that threw
 * @param cancelled tasks that never ran, because they were removed from the queue or their future was already done when
 *     their turn came
 * @param rejected tasks that were refused because the queue was full or the pool was shut down; not part of {@code
 *     submitted}
 * @param active tasks that are running
 * @param depths how many tasks are waiting, by the priority with which they were submitted
 * @param executionTime the total running time of completed and failed tasks
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
    /** Copies the map. A missing priority counts as 0. */
    public ComputePoolMetrics {
        Objects.requireNonNull(executionTime, "executionTime");
        EnumMap<Priority, Integer> all = new EnumMap<>(Priority.class);
        for (Priority priority : Priority.values()) {
            all.put(priority, depths.getOrDefault(priority, 0));
        }
        depths = Collections.unmodifiableMap(all);
    }

    /**
     * Returns how many tasks of one priority are waiting.
     *
     * @param priority the priority with which they were submitted, even if they have aged
     * @return the number of tasks
     */
    public int depth(Priority priority) {
        return depths.getOrDefault(priority, 0);
    }

    /**
     * Returns how many tasks are waiting.
     *
     * @return the sum over all priorities
     */
    public int depth() {
        return depths.values().stream().mapToInt(Integer::intValue).sum();
    }
}
