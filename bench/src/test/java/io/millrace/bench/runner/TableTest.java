package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What is shown and kept of an outcome")
class TableTest {
    private final List<String> turns = new ArrayList<>();

    private Outcome outcome() throws InterruptedException {
        return Fixed.play(
                Fixed.comparison(
                        new Fixed("a", turns, 1000, 2000, 1500),
                        new Fixed("b", turns, 1100, 2000, 1800),
                        new Fixed("c", turns)),
                3);
    }

    @Test
    void aTableHasRatiosFiguresFailuresAndTargets() throws Exception {
        assertThat(Table.of(outcome())).isEqualTo("""
            a play
            × is the ratio to a: the median of 3 paired rounds (least–most); the rest are medians

                           ns ×       ns
            a                 1  1,500.0
            b  1.10 (1.00–1.20)  1,800.0
            c                 –        –
            failed: c: out of figures
            b / a, ns: 1.10 (1.00–1.20), target ≤ 1.05: missed
            b / a, ns: 1.10 (1.00–1.20), target ≥ 1.05: met
            b, ns: 1800.00 (1100.00–2000.00), target ≤ 5.00: missed
            b / nobody, ns: not measured; target ≤ 1.00
            """);
    }

    @Test
    @DisplayName("every round's figures are kept, and can be read again")
    void json() throws Exception {
        Map<String, Object> read = Json.readObject(Json.write(Report.json(outcome())));
        assertThat(read).containsEntry("baseline", "a");
        Map<?, ?> b = (Map<?, ?>) ((List<?>) read.get("contestants")).get(1);
        assertThat(b.get("command")).isEqualTo("run \"b\"");
        assertThat(b.get("rounds"))
                .isEqualTo(List.of(Map.of("cost", 1100.0), Map.of("cost", 2000.0), Map.of("cost", 1800.0)));
        Map<?, ?> c = (Map<?, ?>) ((List<?>) read.get("contestants")).get(2);
        assertThat(c.get("failure")).isEqualTo("out of figures");
    }
}
