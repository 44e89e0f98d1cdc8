package io.millrace.bench.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An outcome as text: ratios first, then the figures themselves, then the targets. */
final class Table {
    private static final String NONE = "–";

    private Table() {}

    static String of(Outcome outcome) {
        Comparison comparison = outcome.comparison();
        List<List<String>> rows = new ArrayList<>();
        rows.add(headers(comparison));
        outcome.entries().forEach(entry -> rows.add(row(outcome, entry)));
        int rounds = outcome.entries().stream()
                .mapToInt(entry -> entry.rounds.size())
                .max()
                .orElse(0);
        StringBuilder text = new StringBuilder();
        text.append(comparison.title()).append('\n');
        text.append("× is the ratio to ").append(comparison.baseline());
        text.append(": the median of ").append(rounds).append(rounds == 1 ? " round" : " paired rounds");
        text.append(" (least–most); the rest are medians\n\n");
        text.append(aligned(rows));
        for (Outcome.Entry entry : outcome.entries()) {
            if (entry.failure != null) {
                text.append("failed: ").append(entry.candidate.name()).append(": ");
                text.append(entry.failure).append('\n');
            } else if (entry.warmUp.startsWith("not")) {
                text.append("compilation of ").append(entry.candidate.name()).append(' ');
                text.append(entry.warmUp).append('\n');
            }
        }
        comparison.targets().forEach(target -> text.append(target.text(outcome)).append('\n'));
        return text.toString();
    }

    private static List<String> headers(Comparison comparison) {
        List<String> headers = new ArrayList<>(List.of(""));
        comparison.columns().stream().filter(Column::ratio).forEach(column -> headers.add(column.header() + " ×"));
        comparison.columns().forEach(column -> headers.add(column.header()));
        return headers;
    }

    private static List<String> row(Outcome outcome, Outcome.Entry entry) {
        Comparison comparison = outcome.comparison();
        String name = entry.candidate.name();
        boolean isBaseline = name.equals(comparison.baseline());
        List<String> row = new ArrayList<>(List.of(name));
        for (Column column : comparison.columns()) {
            if (column.ratio()) {
                row.add(Ratio.paired(
                                outcome.figures(name, column.key()),
                                outcome.figures(comparison.baseline(), column.key()))
                        .map(ratio -> isBaseline ? "1" : ratio.text())
                        .orElse(NONE));
            }
        }
        for (Column column : comparison.columns()) {
            row.add(Ratio.of(outcome.figures(name, column.key()))
                    .map(figure -> String.format(Locale.ROOT, "%,." + column.decimals() + "f", figure.median()))
                    .orElse(NONE));
        }
        return row;
    }

    /** Names to the left, the rest to the right of its column. */
    static String aligned(List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String padding = " ".repeat(widths[i] - row.get(i).length());
                line.append(i == 0 ? row.get(i) + padding : "  " + padding + row.get(i));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
