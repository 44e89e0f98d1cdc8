package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.millrace.bench.runner.Linear.Point;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The model of a chat on many nodes")
class ScaleTest {
    private static final Linear NODES = new Linear(40, 30, 5);
    private static final Linear ENGINE = new Linear(20, 10, 0);
    private static final Linear LATENCY = new Linear(200, 50, 2);
    private static final Sizing.Machine MACHINE = new Sizing.Machine(4, 16e9);

    @TempDir
    Path folder;

    private static Costs costs(double roomOnEngine) {
        return new Costs(NODES, ENGINE, LATENCY, 0, roomOnEngine, 100e6, 2_000, 100, List.of());
    }

    // ---- Results as the suite writes them ----

    private static Map<String, Object> candidate(String name, int nodes, int members, double times) {
        Point point = new Point(nodes, nodes * members, 0);
        Map<String, Object> round = new LinkedHashMap<>();
        round.put("nodes", nodes);
        round.put("members", members);
        round.put("lineMicros", NODES.at(point) * times);
        round.put("engineMicros", ENGINE.at(point) * times);
        round.put("p50us", LATENCY.at(point) * times);
        round.put("residentBytes", 100_000_000);
        return Map.of("name", name, "rounds", List.of(round, round));
    }

    private static Map<String, Object> comparison(String id, int members, double times) {
        return Map.of(
                "id",
                id,
                "contestants",
                List.of(
                        candidate("Millrace, 1 node", 1, members, 1),
                        candidate("Millrace, 2 nodes", 2, members, 1),
                        candidate("Millrace, 3 nodes", 3, members, times),
                        candidate("Millrace, 1 node with all", 1, 3 * members, times),
                        candidate("Lettuce, 1 node", 1, members, 7)));
    }

    /** @param times what three nodes cost, and one with all members, relative to what the sums say */
    private Path results(double times) throws Exception {
        List<Object> contests = new ArrayList<>();
        contests.add(comparison("backplane-redis-many", 50, times));
        contests.add(comparison("backplane-redis-few", 2, times));
        return Files.writeString(folder.resolve("figures.json"), Json.write(Map.of("contests", contests)));
    }

    // ---- Fitting ----

    @Test
    @DisplayName("finds what a line costs once, on each node and for each delivery")
    void fit() {
        List<Point> points = new ArrayList<>();
        for (int[] each : new int[][] {{1, 50}, {2, 100}, {1, 2}, {2, 4}}) {
            points.add(new Point(each[0], each[1], NODES.at(each[0], each[1])));
        }
        Linear found = Linear.fit(points);
        assertThat(found.once()).isCloseTo(40, within(1e-6));
        assertThat(found.perNode()).isCloseTo(30, within(1e-6));
        assertThat(found.perDelivery()).isCloseTo(5, within(1e-6));
    }

    @Test
    @DisplayName("says so if the measurements cannot tell the terms apart")
    void undetermined() {
        List<Point> same = List.of(new Point(1, 50, 320), new Point(1, 50, 321), new Point(1, 2, 80));
        assertThatThrownBy(() -> Linear.fit(same))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("one node and two");
    }

    @Test
    @DisplayName("is fitted to one node and two only; three nodes, and one with all members, tell how far it is off")
    void check() throws Exception {
        assertThat(Scale.check(results(1)))
                .contains("40.0", "30.0", "5.00", "+0 %")
                .doesNotContain("+25 %");
        String off = Scale.check(results(0.8));
        assertThat(off).contains("40.0", "30.0", "5.00");
        assertThat(off.lines().filter(line -> line.contains("%"))).hasSize(12).allMatch(line -> line.endsWith("+25 %"));
        assertThat(off).contains("Millrace, 3 nodes, 3 × 50").doesNotContain("Lettuce");
    }

    @Test
    @DisplayName("says what is missing in a file of another suite")
    void missing() throws Exception {
        Path other = Files.writeString(folder.resolve("other.json"), "{\"contests\": []}");
        assertThatThrownBy(() -> Scale.text(other, List.of(), 50, 1, 30))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("make it by ./millrace bench backplane");
    }

    // ---- Sizes ----

    @Test
    @DisplayName("adds up lines, deliveries and who comes and goes, by hand")
    void byHand() {
        Sizing.Service service = new Sizing.Service(6_000, 10, 1, 10);
        Sizing size = Sizing.of(costs(0), service, MACHINE);
        assertThat(size.linesPerSecond()).isEqualTo(100);
        assertThat(service.changes()).isEqualTo(20);
        assertThat(size.deliveriesPerSecond()).isEqualTo(1_200);
        assertThat(size.nodes()).isEqualTo(1);
        assertThat(size.cells()).isEqualTo(1);
        // 120 records, 40 + 30 each, and 1,200 deliveries of 5.
        assertThat(size.nodeCores()).isCloseTo((120 * 70 + 1_200 * 5) / 1e6, within(1e-9));
        assertThat(size.engineCores()).isCloseTo(120 * 30 / 1e6, within(1e-9));
        assertThat(size.nodeBytes()).isEqualTo(100e6 + 6_000 * 2_000);
        assertThat(size.followed()).isEqualTo(600);
    }

    @Test
    @DisplayName("takes more nodes, and then more engines, for more users; and stays within the limits")
    void grows() {
        int nodes = 0;
        int cells = 0;
        for (int users : new int[] {10_000, 100_000, 1_000_000, 10_000_000}) {
            Sizing size = Sizing.of(costs(0), new Sizing.Service(users, 50, 1, 30), MACHINE);
            assertThat(size.nodes() * size.cells()).isGreaterThanOrEqualTo(nodes);
            assertThat(size.cells()).isGreaterThanOrEqualTo(cells);
            assertThat(size.nodeCores()).isLessThanOrEqualTo(Sizing.BUSY * MACHINE.cores());
            assertThat(size.engineCores()).isLessThanOrEqualTo(Sizing.BUSY);
            nodes = size.nodes() * size.cells();
            cells = size.cells();
        }
        assertThat(cells).isGreaterThan(1);
    }

    @Test
    @DisplayName("an engine that pays for each room that a node follows has to be split earlier")
    void manyRooms() {
        Sizing.Service service = new Sizing.Service(100_000, 50, 1, 30);
        Sizing without = Sizing.of(costs(0), service, MACHINE);
        Sizing with = Sizing.of(costs(0.8), service, MACHINE);
        assertThat(with.cells()).isGreaterThan(without.cells());
        assertThat(with.limit()).isEqualTo("the engine");
    }

    // ---- The page ----

    @Test
    @DisplayName("writes its tables between the marks of a page, and leaves the rest of it alone")
    void write() throws Exception {
        String marked =
                "before\n<!-- begin of figures: ./millrace bench scale FILE.json --page docs/scaling.md -->\nold\n"
                        + "<!-- end of figures -->\nafter\n";
        Path page = Files.writeString(folder.resolve("page.md"), marked);
        Scale.write(results(1), page);
        String written = Files.readString(page);
        assertThat(written)
                .startsWith("before\n")
                .endsWith("<!-- end of figures -->\nafter\n")
                .contains("[this run](figures.json)", "| 10,000 |", "### Redis")
                .doesNotContain("old", "### NATS");
        Scale.write(results(1), page);
        assertThat(Files.readString(page)).isEqualTo(written);
        Files.writeString(page, "no marks");
        assertThatThrownBy(() -> Scale.write(results(1), page)).hasMessageContaining("begin of figures");
    }

    @Test
    @DisplayName("the tables of docs/scaling.md are those of the results that it names")
    void page() throws Exception {
        Path docs = Path.of("").toRealPath().getParent().resolve("docs");
        String figures = Scale.figuresOf(Files.readString(docs.resolve("scaling.md")));
        Matcher link = Pattern.compile("\\[this run]\\(([^)]+)\\)").matcher(figures);
        if (link.find()) {
            assertThat(figures).isEqualTo(Scale.markdown(docs.resolve(link.group(1)), link.group(1)));
        } else {
            assertThat(figures).isEqualTo(Scale.NOTHING);
        }
    }
}
