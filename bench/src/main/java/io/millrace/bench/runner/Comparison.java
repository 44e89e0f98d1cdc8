package io.millrace.bench.runner;

import java.util.List;

/**
 * The same work, done by several candidates in turn.
 *
 * @param id for names of files
 * @param title what the work is
 * @param baseline the candidate whose ratio is 1
 * @param columns what is shown
 * @param candidates in the order of the table
 * @param targets what should come out
 */
public record Comparison(
        String id,
        String title,
        String baseline,
        List<Column> columns,
        List<? extends Candidate> candidates,
        List<Target> targets) {

    /** If the baseline is absent, the first candidate that is there takes its place. */
    Comparison withBaselinePresent() {
        boolean present =
                candidates.stream().anyMatch(candidate -> candidate.name().equals(baseline));
        return present || candidates.isEmpty()
                ? this
                : new Comparison(id, title, candidates.getFirst().name(), columns, candidates, targets);
    }

    String header(String key) {
        return columns.stream()
                .filter(column -> column.key().equals(key))
                .map(Column::header)
                .findFirst()
                .orElse(key);
    }
}
