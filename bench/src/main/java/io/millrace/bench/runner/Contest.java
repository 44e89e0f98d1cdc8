package io.millrace.bench.runner;

import java.util.List;

/**
 * The same work for several.
 *
 * @param id for names of files
 * @param title what the work is
 * @param baseline the contestant whose ratio is 1
 * @param columns what is shown
 * @param contestants in the order of the table
 * @param targets what should come out
 */
public record Contest(
        String id,
        String title,
        String baseline,
        List<Column> columns,
        List<? extends Contestant> contestants,
        List<Target> targets) {

    /** If the base line is absent, the first who is there takes its place. */
    Contest withBaselinePresent() {
        boolean present =
                contestants.stream().anyMatch(contestant -> contestant.name().equals(baseline));
        return present || contestants.isEmpty()
                ? this
                : new Contest(id, title, contestants.getFirst().name(), columns, contestants, targets);
    }

    String header(String key) {
        return columns.stream()
                .filter(column -> column.key().equals(key))
                .map(Column::header)
                .findFirst()
                .orElse(key);
    }
}
