package io.millrace.engine.reactor;

import java.util.Comparator;
import java.util.PriorityQueue;

/** The few alarms that come next, of many: for reports. */
final class NextAlarms {
    private static final int SHOWN = 5;

    private record Line(long deadline, String text) {}

    /** The last of those shown first. */
    private final PriorityQueue<Line> lines =
            new PriorityQueue<>(Comparator.comparingLong(Line::deadline).reversed());

    private int count;

    void add(Alarm alarm) {
        count++;
        Line last = lines.peek();
        if (lines.size() < SHOWN || (last != null && alarm.deadline < last.deadline())) {
            lines.add(new Line(alarm.deadline, alarm.toString()));
            if (lines.size() > SHOWN) {
                lines.remove();
            }
        }
    }

    void describe(long nowNanos, StringBuilder text) {
        if (count == 0) {
            return;
        }
        text.append("  ").append(count).append(" alarms are pending, next:\n");
        lines.stream()
                .sorted(Comparator.comparingLong(Line::deadline))
                .forEach(line -> text.append("    in ")
                        .append((line.deadline() - nowNanos) / 1_000_000)
                        .append(" ms ")
                        .append(line.text())
                        .append('\n'));
    }
}
