package io.millrace.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The overview of a console in a terminal, refreshed like top(1). It reads {@code /metrics} of a console, which may be
 * that of another process.
 */
public final class Top {
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private final URI metrics;
    private final String token;
    private @Nullable Map<String, Double> before;
    private long at;

    /**
     * Creates a view of a console.
     *
     * @param console its {@link Console#url}, with the token
     * @throws IllegalArgumentException if the address has no token
     */
    public Top(URI console) {
        String fragment = console.getFragment();
        if (fragment == null || !fragment.startsWith("token=")) {
            throw new IllegalArgumentException(
                    "the address " + console + " has no token; use the one that the program printed, with #token=…");
        }
        this.token = fragment.substring("token=".length());
        this.metrics = console.resolve("/metrics");
    }

    /**
     * Shows the overview until the calling thread is interrupted or the console no longer answers.
     *
     * @param out the terminal
     * @param period how often to refresh
     * @param frames after how many frames to return; 0 for never
     * @throws IOException if the console does not answer
     */
    public void show(PrintStream out, Duration period, int frames) throws IOException {
        for (int i = 1; ; i++) {
            String frame = frame();
            out.print(frames == 1 ? frame : CLEAR + frame);
            out.flush();
            if (i == frames) {
                return;
            }
            try {
                TimeUnit.NANOSECONDS.sleep(period.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /**
     * Returns the present overview: rates since the last call, or totals the first time.
     *
     * @return lines of text
     * @throws IOException if the console does not answer
     */
    public String frame() throws IOException {
        Map<String, Double> now = read();
        long time = System.nanoTime();
        double seconds = before == null ? 0 : (time - at) / 1e9;
        Map<String, Double> was = before == null ? Map.of() : before;
        before = now;
        at = time;
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                        Locale.ROOT,
                        "%-20s %8s %10s %12s %12s %10s %7s",
                        "SERVER",
                        "OPEN",
                        "ACCEPT/s",
                        "IN B/s",
                        "OUT B/s",
                        "QUEUED",
                        "FAILED"))
                .append('\n');
        for (String server : values(now, "server")) {
            String label = "{server=\"" + server + "\"}";
            text.append(String.format(
                            Locale.ROOT,
                            "%-20s %8.0f %10.1f %12.0f %12.0f %10.0f %7.0f",
                            server,
                            get(now, "connections{server=\"" + server + "\",state=\"open\"}"),
                            rate(now, was, "connections_opened_total" + label, seconds),
                            rate(now, was, "received_bytes_total" + label, seconds),
                            rate(now, was, "sent_bytes_total" + label, seconds),
                            get(now, "queued_bytes" + label),
                            get(now, "connections_failed_total" + label)))
                    .append('\n');
        }
        text.append('\n');
        text.append(String.format(
                        Locale.ROOT,
                        "%-20s %6s %10s %10s %8s %8s %8s %8s",
                        "LOOP",
                        "USE",
                        "TURNS/s",
                        "EVENTS/s",
                        "SOURCES",
                        "ALARMS",
                        "BLOCKED",
                        "BUSY"))
                .append('\n');
        for (String loop : values(now, "loop")) {
            String label = "{loop=\"" + loop + "\"}";
            text.append(String.format(
                            Locale.ROOT,
                            "%-20s %5.1f%% %10.0f %10.0f %8.0f %8.0f %8.0f %8.0f",
                            loop,
                            100 * rate(now, was, "eventloop_time_seconds_total" + label, seconds),
                            rate(now, was, "eventloop_turns_total" + label, seconds),
                            rate(now, was, "eventloop_events_total" + label, seconds),
                            get(now, "eventloop_sources" + label),
                            get(now, "eventloop_alarms_pending" + label),
                            get(now, "eventloop_stalls_total{loop=\"" + loop + "\",kind=\"blocked\"}"),
                            get(now, "eventloop_stalls_total{loop=\"" + loop + "\",kind=\"busy\"}")))
                    .append('\n');
        }
        return text.toString();
    }

    private static double get(Map<String, Double> samples, String name) {
        return samples.getOrDefault(name, 0.0);
    }

    private static double rate(Map<String, Double> now, Map<String, Double> was, String name, double seconds) {
        return seconds <= 0 ? 0 : Math.max(0, get(now, name) - get(was, name)) / seconds;
    }

    /** Returns the values of a label, in order. What could move the cursor of a terminal is left out. */
    private static SortedSet<String> values(Map<String, Double> samples, String label) {
        SortedSet<String> all = new TreeSet<>();
        String start = "{" + label + "=\"";
        for (String name : samples.keySet()) {
            int from = name.indexOf(start);
            if (from >= 0) {
                int begin = from + start.length();
                all.add(name.substring(begin, name.indexOf('"', begin)).replaceAll("\\p{Cntrl}", "?"));
            }
        }
        return all;
    }

    private Map<String, Double> read() throws IOException {
        HttpURLConnection request = (HttpURLConnection) metrics.toURL().openConnection();
        request.setRequestProperty(Guard.HEADER, token);
        request.setConnectTimeout(5_000);
        request.setReadTimeout(10_000);
        if (request.getResponseCode() != 200) {
            throw new IOException("the console at " + metrics + " answered with status " + request.getResponseCode()
                    + (request.getResponseCode() == 401 ? ": the token is wrong" : ""));
        }
        Map<String, Double> samples = new LinkedHashMap<>();
        try (InputStream in = request.getInputStream()) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1)) {
                int space = line.lastIndexOf(' ');
                if (!line.startsWith("#") && space > 0) {
                    samples.put(line.substring("millrace_".length(), space), Double.valueOf(line.substring(space + 1)));
                }
            }
        }
        return samples;
    }
}
