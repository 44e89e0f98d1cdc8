package io.millrace.console;

import io.millrace.engine.Histogram;
import io.millrace.engine.Metrics;
import io.millrace.engine.Priority;
import io.millrace.engine.StallReport;
import io.millrace.server.Monitored;
import io.millrace.server.ServerMetrics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Writes the counters as text for Prometheus, with the histograms of the loops as histograms. There are two formats:
 * OpenMetrics, in which a counter's family is called without {@code _total}, and the older one of Prometheus, for those
 * who do not ask for OpenMetrics. Any thread.
 */
final class OpenMetrics {
    static final String TYPE = "application/openmetrics-text";

    /** Upper bounds of the buckets, in nanoseconds. They are bounds of the loops' own buckets, so counts are exact. */
    private static final long[] BOUNDS = bounds();

    private final Observed observed;

    OpenMetrics(Observed observed) {
        this.observed = observed;
    }

    /** Powers of two from 1 µs to 17 s: a value below one of them is in a bucket that ends at or below it. */
    private static long[] bounds() {
        long[] bounds = new long[25];
        for (int i = 0; i < bounds.length; i++) {
            bounds[i] = 1L << (10 + i);
        }
        return bounds;
    }

    String text(boolean openMetrics) {
        String text = openMetrics();
        if (openMetrics) {
            return text;
        }
        StringBuilder older = new StringBuilder(text.length());
        String counter = "";
        for (String line : text.split("\n", -1)) {
            if (line.startsWith("# TYPE") && line.endsWith(" counter")) {
                counter = line.substring("# TYPE ".length(), line.length() - " counter".length());
                older.append("# TYPE ").append(counter).append("_total counter\n");
            } else if (line.startsWith("# HELP " + counter + " ")) {
                older.append("# HELP ").append(counter).append("_total");
                older.append(line, "# HELP ".length() + counter.length(), line.length())
                        .append('\n');
            } else if (!line.startsWith("# UNIT") && !line.equals("# EOF") && !line.isEmpty()) {
                older.append(line).append('\n');
            }
        }
        return older.toString();
    }

    private String openMetrics() {
        StringBuilder text = new StringBuilder(8192);
        List<ObservedLoop> loops = observed.loops();
        counters(text, loops, "eventloop_turns", "Turns of the loop.", Metrics::turns);
        counters(text, loops, "eventloop_waits", "Calls that asked the kernel for events.", Metrics::waits);
        counters(text, loops, "eventloop_wakeups", "Wake-ups by other threads.", Metrics::wakeUps);
        counters(text, loops, "eventloop_events", "Events of sources.", Metrics::events);
        counters(text, loops, "eventloop_items", "Handlers, alarms and tasks that ran.", Metrics::delivered);
        counters(text, loops, "eventloop_failures", "Callbacks that threw.", Metrics::failures);
        counters(text, loops, "eventloop_alarms_due", "Alarms that came due.", Metrics::alarmsDue);
        head(text, "eventloop_time_seconds", "counter", "seconds", "Time in which the loop worked.");
        for (ObservedLoop loop : loops) {
            sample(
                    text,
                    "eventloop_time_seconds_total",
                    labels("loop", loop.name()),
                    seconds(loop.metrics().busyNanos()));
        }
        head(text, "eventloop_in_turn_seconds", "gauge", "seconds", "How long the present turn has lasted.");
        for (ObservedLoop loop : loops) {
            sample(
                    text,
                    "eventloop_in_turn_seconds",
                    labels("loop", loop.name()),
                    seconds(loop.view().turnLasts().toNanos()));
        }
        gauges(text, loops, "eventloop_sources", "Sources that are registered.", Metrics::sources);
        gauges(text, loops, "eventloop_alarms_pending", "Alarms that are pending.", Metrics::alarmsPending);
        head(text, "eventloop_queue_depth", "gauge", "", "Tasks that wait to run.");
        for (ObservedLoop loop : loops) {
            for (Priority priority : Priority.values()) {
                sample(
                        text,
                        "eventloop_queue_depth",
                        labels("loop", loop.name(), "priority", priority.name().toLowerCase(Locale.ROOT)),
                        Long.toString(loop.metrics().queueDepth(priority)));
            }
        }
        stalls(text, loops);
        head(text, "eventloop_delay_seconds", "histogram", "seconds", "How late alarms came due.");
        loops.forEach(loop ->
                histogram(text, "eventloop_delay_seconds", loop, loop.metrics().loopLag()));
        head(text, "eventloop_turn_seconds", "histogram", "seconds", "How long turns took.");
        loops.forEach(loop ->
                histogram(text, "eventloop_turn_seconds", loop, loop.metrics().turnTime()));
        servers(text);
        return text.append("# EOF\n").toString();
    }

    private void servers(StringBuilder text) {
        head(text, "connections", "gauge", "", "Connections, by how far they are.");
        for (Map.Entry<String, Monitored> each : observed.servers.entrySet()) {
            ServerMetrics metrics = each.getValue().metrics();
            sample(text, "connections", labels("server", each.getKey(), "state", "open"), metrics.connections() + "");
            sample(
                    text,
                    "connections",
                    labels("server", each.getKey(), "state", "opening"),
                    metrics.connectionsOpening() + "");
            sample(
                    text,
                    "connections",
                    labels("server", each.getKey(), "state", "ending"),
                    metrics.connectionsEnding() + "");
        }
        each(
                text,
                "connections_full",
                "gauge",
                "",
                "Connections above their high-water mark.",
                ServerMetrics::connectionsFull);
        each(
                text,
                "connections_opened",
                "counter",
                "",
                "Connections that were opened.",
                ServerMetrics::connectionsOpened);
        each(
                text,
                "connections_refused",
                "counter",
                "",
                "Connections that were turned away.",
                ServerMetrics::connectionsTurnedAway);
        each(
                text,
                "connections_failed",
                "counter",
                "",
                "Connections that did not end in order.",
                ServerMetrics::connectionsFailed);
        each(text, "accept_failures", "counter", "", "Accepts that failed.", ServerMetrics::acceptFailures);
        each(text, "received_bytes", "counter", "bytes", "Bytes that were received.", ServerMetrics::bytesReceived);
        each(text, "sent_bytes", "counter", "bytes", "Bytes that were sent.", ServerMetrics::bytesSent);
        each(text, "queued_bytes", "gauge", "bytes", "Bytes that wait to be sent.", ServerMetrics::bytesQueued);
        each(text, "tls_handshakes", "counter", "", "TLS handshakes that were completed.", ServerMetrics::handshakes);
        each(
                text,
                "tls_handshakes_failed",
                "counter",
                "",
                "Connections that ended before their TLS handshake was complete.",
                ServerMetrics::handshakesFailed);
    }

    private void each(
            StringBuilder text,
            String name,
            String type,
            String unit,
            String help,
            ToLongFunction<ServerMetrics> value) {
        head(text, name, type, unit, help);
        String suffix = type.equals("counter") ? "_total" : "";
        observed.servers.forEach((server, monitored) -> sample(
                text, name + suffix, labels("server", server), Long.toString(value.applyAsLong(monitored.metrics()))));
    }

    private static void counters(
            StringBuilder text, List<ObservedLoop> loops, String name, String help, ToLongFunction<Metrics> value) {
        head(text, name, "counter", "", help);
        loops.forEach(loop -> sample(
                text, name + "_total", labels("loop", loop.name()), Long.toString(value.applyAsLong(loop.metrics()))));
    }

    private static void gauges(
            StringBuilder text, List<ObservedLoop> loops, String name, String help, ToLongFunction<Metrics> value) {
        head(text, name, "gauge", "", help);
        loops.forEach(loop ->
                sample(text, name, labels("loop", loop.name()), Long.toString(value.applyAsLong(loop.metrics()))));
    }

    private static void stalls(StringBuilder text, List<ObservedLoop> loops) {
        head(text, "eventloop_stalls", "counter", "", "What held up the loop, as its watchdog saw it.");
        for (ObservedLoop loop : loops) {
            StallReport report = loop.stalls();
            stall(text, loop, "blocked", report.blockedCount());
            stall(text, loop, "busy", report.busy().count());
            stall(text, loop, "starved", report.starved().count());
            stall(text, loop, "paused", report.paused().count());
        }
    }

    private static void stall(StringBuilder text, ObservedLoop loop, String kind, long count) {
        sample(text, "eventloop_stalls_total", labels("loop", loop.name(), "kind", kind), Long.toString(count));
    }

    private static void histogram(StringBuilder text, String name, ObservedLoop loop, Histogram histogram) {
        long seen = 0;
        int next = 0;
        var buckets = histogram.buckets();
        for (long bound : BOUNDS) {
            while (next < buckets.size() && buckets.get(next).atMostNanos() < bound) {
                seen += buckets.get(next++).count();
            }
            sample(text, name + "_bucket", labels("loop", loop.name(), "le", seconds(bound)), Long.toString(seen));
        }
        sample(text, name + "_bucket", labels("loop", loop.name(), "le", "+Inf"), Long.toString(histogram.count()));
        sample(text, name + "_count", labels("loop", loop.name()), Long.toString(histogram.count()));
        sample(text, name + "_sum", labels("loop", loop.name()), seconds(histogram.sumNanos()));
    }

    private static String seconds(long nanos) {
        return Double.toString(nanos / 1e9);
    }

    private static void head(StringBuilder text, String name, String type, String unit, String help) {
        text.append("# TYPE millrace_").append(name).append(' ').append(type).append('\n');
        if (!unit.isEmpty()) {
            text.append("# UNIT millrace_")
                    .append(name)
                    .append(' ')
                    .append(unit)
                    .append('\n');
        }
        text.append("# HELP millrace_").append(name).append(' ').append(help).append('\n');
    }

    private static String labels(String... namesAndValues) {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            text.append(i == 0 ? "" : ",")
                    .append(namesAndValues[i])
                    .append("=\"")
                    .append(namesAndValues[i + 1]
                            .replace("\\", "\\\\")
                            .replace("\"", "\\\"")
                            .replace("\n", "\\n"))
                    .append('"');
        }
        return text.append('}').toString();
    }

    private static void sample(StringBuilder text, String name, String labels, String value) {
        text.append("millrace_")
                .append(name)
                .append(labels)
                .append(' ')
                .append(value)
                .append('\n');
    }
}
