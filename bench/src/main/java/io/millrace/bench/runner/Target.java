package io.millrace.bench.runner;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a figure should be: at most or at least so many times another's, or simply so much.
 *
 * @param ours a candidate
 * @param theirs another; null for a target that is an absolute number
 * @param key of the figure
 * @param atMost whether less is better
 * @param limit the ratio or the number
 */
public record Target(String ours, @Nullable String theirs, String key, boolean atMost, double limit) {
    static Target atMost(double limit, String key, String ours, String theirs) {
        return new Target(ours, theirs, key, true, limit);
    }

    static Target atLeast(double limit, String key, String ours, String theirs) {
        return new Target(ours, theirs, key, false, limit);
    }

    static Target atMost(double limit, String key, String ours) {
        return new Target(ours, null, key, true, limit);
    }

    /** What the rounds say; empty if one of the two was not measured. */
    Optional<Ratio> figure(Outcome outcome) {
        return theirs == null
                ? Ratio.of(outcome.figures(ours, key))
                : Ratio.paired(outcome.figures(ours, key), outcome.figures(theirs, key));
    }

    boolean met(Ratio figure) {
        return atMost ? figure.median() <= limit : figure.median() >= limit;
    }

    /** {@code Millrace epoll / raw C epoll, CPU/msg: 1.03 (0.99–1.08), target ≤ 1.05: met} */
    String text(Outcome outcome) {
        String what = ours + (theirs == null ? "" : " / " + theirs) + ", "
                + outcome.comparison().header(key) + ": ";
        String wanted = String.format(Locale.ROOT, "target %s %.2f", atMost ? "≤" : "≥", limit);
        return figure(outcome)
                .map(figure -> what + figure.text() + ", " + wanted + ": " + (met(figure) ? "met" : "missed"))
                .orElse(what + "not measured; " + wanted);
    }
}
