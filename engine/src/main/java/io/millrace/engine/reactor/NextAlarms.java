package io.millrace.engine.reactor;

import java.util.Comparator;
import java.util.PriorityQueue;

/** Selects the few alarms that fire next out of many. For reports. */
final class NextAlarms {
    private static final int SHOWN = 5;

    private record Line(long deadline, String text) {}

    /** The latest of the selected alarms is first. */
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
        lines.stream().sorted(Comparator.comparingLong(Line::deadline)).forEach(line -> {
            long ahead = (line.deadline() - nowNanos) / 1_000_000;
            text.append(ahead < 0 ? "    overdue by " : "    in ")
                    .append(Math.abs(ahead))
                    .append(ahead < 0 ? " ms: " : " ms ")
                    .append(line.text())
                    .append('\n');
        });
    }
}
