package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * {@code ./millrace bench scale}: what a service takes by the {@link Costs} of a file of results, and how well these predict what was
 * measured of three nodes. As text, and as the tables of {@code docs/scaling.md}.
 */
public final class Scale {
    private static final Map<String, String> ENGINES = new TreeMap<>(Map.of("nats", "NATS", "redis", "Redis"));
    private static final String BEGIN =
            "<!-- begin of figures: ./millrace bench scale FILE.json --page docs/scaling.md -->";
    private static final String END = "<!-- end of figures -->";
    private static final List<Integer> USERS = List.of(10_000, 100_000, 1_000_000, 10_000_000);

    /** One room of fifty for each user, a line a minute, half an hour. */
    static final Sizing.Service USUAL = new Sizing.Service(1, 50, 1, 30);

    static final Sizing.Machine NODE = new Sizing.Machine(4, 16e9);

    /** What the page says until there is a file. */
    static final String NOTHING = "*Not measured yet on a quiet machine.*\n";

    private Scale() {}

    // ---- The command ----

    /**
     * Tables for some numbers of users.
     *
     * @throws IllegalArgumentException if the file has not what it takes
     */
    public static String text(Path results, List<Integer> users, double room, double linesPerMinute, double minutes)
            throws IOException {
        StringBuilder text = new StringBuilder(check(results));
        Sizing.Service service = new Sizing.Service(1, room, linesPerMinute, minutes);
        for (Map.Entry<String, Costs> each : costs(results).entrySet()) {
            text.append('\n')
                    .append(each.getKey())
                    .append(": ")
                    .append(told(service))
                    .append("\n\n");
            text.append(Table.aligned(sizes(each.getValue(), service, users.isEmpty() ? USERS : users)));
        }
        return text.toString();
    }

    /** Puts the tables of a file of results into a page, between its marks. */
    public static void write(Path results, Path page) throws IOException {
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException(
                    "cannot write into " + page + ": it has no \"" + BEGIN + "\" and \"" + END + "\" behind it");
        }
        Path folder = page.toAbsolutePath().getParent();
        String link = folder == null
                ? results.toString()
                : folder.relativize(results.toAbsolutePath()).toString();
        Files.writeString(
                page, text.substring(0, begin + BEGIN.length()) + "\n" + markdown(results, link) + text.substring(end));
    }

    /** What is between the marks of a page. */
    static String figuresOf(String page) {
        return page.substring(page.indexOf(BEGIN) + BEGIN.length() + 1, page.indexOf(END));
    }

    private static Map<String, Costs> costs(Path results) throws IOException {
        Map<String, Costs> costs = new TreeMap<>();
        for (Map.Entry<String, String> engine : ENGINES.entrySet()) {
            Optional<Costs> of = Costs.of(results, engine.getKey());
            if (of.isPresent()) {
                costs.put(engine.getValue(), of.get());
            }
        }
        if (costs.isEmpty()) {
            throw new IllegalArgumentException("cannot size by " + results
                    + ": it has no chat over Redis or NATS with one node and two, with few members and with many;"
                    + " make it by ./millrace bench backplane");
        }
        return costs;
    }

    // ---- The model beside the measurement ----

    /** What was fitted, and what it predicts of what it was not fitted to. */
    static String check(Path results) throws IOException {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> engine : ENGINES.entrySet()) {
            Optional<Costs> of = Costs.of(results, engine.getKey());
            if (of.isPresent()) {
                text.append("\na model of the chat over ").append(engine.getValue());
                text.append(", fitted to one node and two, and what it predicts\n\n");
                text.append(Table.aligned(terms(of.get()))).append('\n');
                text.append(Table.aligned(predictions(of.get())));
            }
        }
        return text.isEmpty()
                ? "no model: it takes one node and two, with few members and with many\n"
                : text.toString();
    }

    private static List<List<String>> terms(Costs costs) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("a line", "once", "each node that follows", "each delivery"));
        rows.add(terms("nodes' CPU, µs", costs.nodes()));
        rows.add(terms("engine's CPU, µs", costs.engine()));
        rows.add(terms("p50 on one core, µs", costs.latency()));
        return rows;
    }

    private static List<String> terms(String name, Linear sum) {
        return List.of(name, number(sum.once(), 1), number(sum.perNode(), 1), number(sum.perDelivery(), 2));
    }

    private static List<List<String>> predictions(Costs costs) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("", "predicted", "measured", "error"));
        for (Costs.Measured each : costs.others()) {
            String who = each.name() + ", " + number(each.nodes(), 0) + " × " + number(each.members(), 0);
            rows.add(prediction(who + ": CPU of nodes, µs/line", costs.nodes(), each, "lineMicros"));
            rows.add(prediction(who + ": CPU of engine, µs/line", costs.engine(), each, "engineMicros"));
            rows.add(prediction(who + ": p50, µs", costs.latency(), each, "p50us"));
        }
        return rows;
    }

    private static List<String> prediction(String what, Linear sum, Costs.Measured measured, String key) {
        Linear.Point point = measured.point(key);
        double predicted = sum.at(point);
        return List.of(
                what,
                number(predicted, 0),
                number(point.value(), 0),
                String.format(Locale.ROOT, "%+.0f %%", (predicted / point.value() - 1) * 100));
    }

    // ---- Sizes ----

    private static String told(Sizing.Service service) {
        return String.format(
                Locale.ROOT,
                "rooms of %,.0f, %s lines a minute from each user, who stays for %,.0f minutes; nodes with %,.0f cores and %,.0f GB, and one core of an engine, at most %.0f %% busy",
                service.room(),
                number(service.linesPerMinute(), service.linesPerMinute() < 10 ? 1 : 0),
                service.minutes(),
                NODE.cores(),
                NODE.bytes() / 1e9,
                Sizing.BUSY * 100);
    }

    private static List<List<String>> sizes(Costs costs, Sizing.Service service, List<Integer> users) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of(
                "users",
                "lines/s",
                "deliveries/s",
                "engines",
                "nodes at each",
                "cores busy, all nodes",
                "of each engine",
                "rooms at a node",
                "memory of a node",
                "what limits an engine's part"));
        for (int count : users) {
            Sizing.Service all = new Sizing.Service(count, service.room(), service.linesPerMinute(), service.minutes());
            rows.add(size(costs, all));
        }
        return rows;
    }

    private static List<String> size(Costs costs, Sizing.Service service) {
        String users = number(service.users(), 0);
        try {
            Sizing size = Sizing.of(costs, service, NODE);
            return List.of(
                    users,
                    number(size.linesPerSecond(), 0),
                    number(size.deliveriesPerSecond(), 0),
                    number(size.cells(), 0),
                    number(size.nodes(), 0),
                    number(size.nodeCores() * size.nodes() * size.cells(), 1),
                    number(size.engineCores() * 100, 0) + " %",
                    number(size.followed(), 0),
                    Double.isNaN(size.nodeBytes()) ? "–" : number(size.nodeBytes() / 1e6, 0) + " MB",
                    size.limit());
        } catch (IllegalArgumentException e) {
            return List.of(users, "", "", "–", "", "", "", "", "", String.valueOf(e.getMessage()));
        }
    }

    // ---- The page ----

    static String markdown(Path results, String link) throws IOException {
        StringBuilder text = new StringBuilder("From [this run](" + link + "), medians of its rounds.\n");
        for (Map.Entry<String, Costs> each : costs(results).entrySet()) {
            Costs costs = each.getValue();
            text.append("\n### ").append(each.getKey()).append("\n\n");
            text.append("What a line costs, fitted to one node and two:\n\n").append(markdown(terms(costs)));
            if (costs.roomOnNode() != 0) {
                text.append(String.format(
                        Locale.ROOT,
                        "%nEach room that a node follows adds %.3f µs of its CPU to each line that it follows, and %.3f µs of the engine's.%n",
                        costs.roomOnNode(),
                        costs.roomOnEngine()));
            }
            if (!Double.isNaN(costs.memberBytes())) {
                text.append(String.format(
                        Locale.ROOT,
                        "%nA member takes %,.0f bytes of heap on its node and %,.0f on each other node; a node without members %,.0f MB, resident.%n",
                        costs.memberBytes(),
                        costs.strangerBytes(),
                        costs.baseBytes() / 1e6));
            }
            text.append("\nWhat that predicts, and what was measured:\n\n").append(markdown(predictions(costs)));
            text.append("\nWhat a service takes by it: ").append(told(USUAL)).append(".\n\n");
            text.append(markdown(sizes(costs, USUAL, USERS)));
        }
        return text.append('\n').toString();
    }

    private static String markdown(List<List<String>> rows) {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            text.append("| ").append(String.join(" | ", row)).append(" |\n");
            if (row == rows.getFirst()) {
                text.append("|---".repeat(row.size())).append("|\n");
            }
        }
        return text.toString();
    }

    private static String number(double value, int decimals) {
        return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }
}
