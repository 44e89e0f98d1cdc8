package io.millrace.engine.reactor;

import io.millrace.engine.LoopView.PendingAlarm;
import io.millrace.engine.Priority;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Selects the few alarms that fire next out of many. For reports. */
final class NextAlarms {
    private static final int SHOWN = 5;

    private record Line(long deadline, String text, Priority priority) {}

    private final int most;

    /** The latest of the selected alarms is first. */
    private final PriorityQueue<Line> lines =
            new PriorityQueue<>(Comparator.comparingLong(Line::deadline).reversed());

    private int count;

    NextAlarms() {
        this(SHOWN);
    }

    NextAlarms(int most) {
        this.most = most;
    }

    void add(Alarm alarm) {
        count++;
        Line last = lines.peek();
        if (lines.size() < most || (last != null && alarm.deadline < last.deadline())) {
            lines.add(new Line(alarm.deadline, alarm.toString(), alarm.priority));
            if (lines.size() > most) {
                lines.remove();
            }
        }
    }

    List<PendingAlarm> list(long nowNanos) {
        return lines.stream()
                .sorted(Comparator.comparingLong(Line::deadline))
                .map(line ->
                        new PendingAlarm(line.text(), Duration.ofNanos(line.deadline() - nowNanos), line.priority()))
                .toList();
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
