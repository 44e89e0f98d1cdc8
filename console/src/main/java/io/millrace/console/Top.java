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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The overview of a console in a terminal, refreshed like top(1). It reads {@code /metrics} of a console, which may be
 * that of another process.
 */
public final class Top {
    private static final String CLEAR = "\u001b[H\u001b[2J";
    /** A terminal that is too narrow cuts lines instead of breaking them. */
    private static final String CUT_LINES = "\u001b[?7l";

    private static final String BREAK_LINES = "\u001b[?7h";
    /** How much of a name fits, so that all columns fit into 80. */
    private static final int NAME = 16;

    private static final String SERVERS = "%-16s %8s %9s %10s %10s %10s %8s%n";
    private static final String LOOPS = "%-16s %6s %8s %8s %9s %8s %8s %8s%n";
    private static final String PREFIX = "millrace_";
    /** More than a console with a thousand loops has to say. */
    private static final int LONGEST = 16 << 20;

    private static final String[] UNITS = {"B", "K", "M", "G", "T", "P"};

    private final URI metrics;
    private final String token;
    private @Nullable Map<String, Double> before;
    private long at;

    /**
     * Creates a view of a console.
     *
     * @param console its {@link Console#url}, with the token
     * @throws IllegalArgumentException if that is not an address, or has no token
     */
    public Top(URI console) {
        if (!"http".equals(console.getScheme()) || console.getHost() == null) {
            throw new IllegalArgumentException("the address " + console
                    + " is not one of a console; use the one that the program printed: http://127.0.0.1:…/#token=…");
        }
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
            out.print(frames == 1 ? frame : CUT_LINES + CLEAR + frame + BREAK_LINES);
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
     * Returns the present overview, with rates since the last call; the first one has none.
     *
     * @return lines of text, at most 80 characters each
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
        text.append(line(SERVERS, "SERVER", "OPEN", "OPENED/s", "IN/s", "OUT/s", "QUEUED", "FAILED"));
        for (String server : values(now, "server")) {
            String label = "{server=\"" + server + "\"}";
            text.append(line(
                    SERVERS,
                    shown(server),
                    whole(get(now, "connections{server=\"" + server + "\",state=\"open\"}")),
                    whole(rate(now, was, "connections_opened_total" + label, seconds)),
                    bytes(rate(now, was, "received_bytes_total" + label, seconds)),
                    bytes(rate(now, was, "sent_bytes_total" + label, seconds)),
                    bytes(get(now, "queued_bytes" + label)),
                    whole(get(now, "connections_failed_total" + label))));
        }
        text.append(line("%n"));
        text.append(line(LOOPS, "LOOP", "USE", "TURNS/s", "EVENTS/s", "SOURCES", "ALARMS", "BLOCKED", "BUSY"));
        for (String loop : values(now, "loop")) {
            String label = "{loop=\"" + loop + "\"}";
            // A turn that has not ended counts, too: a loop that is blocked is not idle.
            double use = rate(now, was, "eventloop_time_seconds_total" + label, seconds)
                    + Math.min(1, get(now, "eventloop_in_turn_seconds" + label) / seconds);
            text.append(line(
                    LOOPS,
                    shown(loop),
                    Double.isNaN(use) ? "-" : line("%.1f%%", Math.min(100, 100 * use)),
                    whole(rate(now, was, "eventloop_turns_total" + label, seconds)),
                    whole(rate(now, was, "eventloop_events_total" + label, seconds)),
                    whole(get(now, "eventloop_sources" + label)),
                    whole(get(now, "eventloop_alarms_pending" + label)),
                    whole(get(now, "eventloop_stalls_total{loop=\"" + loop + "\",kind=\"blocked\"}")),
                    whole(get(now, "eventloop_stalls_total{loop=\"" + loop + "\",kind=\"busy\"}"))));
        }
        return text.toString();
    }

    @SuppressWarnings("AnnotateFormatMethod") // the formats are constants of this class
    private static String line(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /** Returns a name without what could move the cursor of a terminal, and as short as its column. */
    private static String shown(String label) {
        String name = label.replace("\\\"", "\"").replace("\\\\", "\\").replaceAll("[\\p{Cntrl}\\p{Cf}]", "?");
        return name.length() <= NAME ? name : name.substring(0, NAME - 1) + "…";
    }

    private static String whole(double n) {
        return Double.isNaN(n) ? "-" : n < 1e7 ? line("%.0f", n) : line("%.1fM", n / 1e6);
    }

    private static String bytes(double n) {
        if (Double.isNaN(n)) {
            return "-";
        }
        int unit = 0;
        for (; n >= 1024 && unit < UNITS.length - 1; unit++) {
            n /= 1024;
        }
        return line(unit == 0 ? "%.0f %s" : "%.1f %s", n, UNITS[unit]);
    }

    private static double get(Map<String, Double> samples, String name) {
        return samples.getOrDefault(name, 0.0);
    }

    /** Returns how much it grew a second; NaN if that is not known yet. */
    private static double rate(Map<String, Double> now, Map<String, Double> was, String name, double seconds) {
        return seconds <= 0 ? Double.NaN : Math.max(0, get(now, name) - get(was, name)) / seconds;
    }

    /** Returns the values of a label, in order, as they stand in the samples: with escapes. */
    private static SortedSet<String> values(Map<String, Double> samples, String label) {
        Pattern pattern = Pattern.compile("[a-z_]+\\{" + label + "=\"((?:[^\"\\\\]|\\\\.)*)\"[,}].*");
        SortedSet<String> all = new TreeSet<>();
        for (String name : samples.keySet()) {
            Matcher matcher = pattern.matcher(name);
            if (matcher.matches()) {
                all.add(matcher.group(1));
            }
        }
        return all;
    }

    private Map<String, Double> read() throws IOException {
        HttpURLConnection request = (HttpURLConnection) metrics.toURL().openConnection();
        request.setRequestProperty(Guard.HEADER, token);
        request.setConnectTimeout(5_000);
        request.setReadTimeout(10_000);
        request.setInstanceFollowRedirects(false); // the token is for this console only
        int status;
        try {
            status = request.getResponseCode();
        } catch (IOException e) {
            throw new IOException("cannot reach the console at " + metrics + ": " + e.getMessage(), e);
        }
        if (status != 200) {
            throw new IOException("the console at " + metrics + " answered with status " + status
                    + (status == 401 ? ": the token is wrong" : ""));
        }
        try (InputStream in = request.getInputStream()) {
            return samples(new String(in.readNBytes(LONGEST), StandardCharsets.UTF_8));
        }
    }

    private Map<String, Double> samples(String text) throws IOException {
        Map<String, Double> samples = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int space = line.lastIndexOf(' ');
            try {
                if (space > PREFIX.length() && line.startsWith(PREFIX)) {
                    samples.put(line.substring(PREFIX.length(), space), Double.valueOf(line.substring(space + 1)));
                    continue;
                }
            } catch (NumberFormatException e) {
                // as below
            }
            throw new IOException("what answers at " + metrics
                    + " is not a console of Millrace; use the address that the program printed");
        }
        return samples;
    }
}
