package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Rounds and ratios")
class RoundsTest {
    private final List<String> turns = new ArrayList<>();

    @Test
    @DisplayName("everyone has one turn in a round, and each round begins with the next of them")
    void rotates() throws Exception {
        Fixed.play(
                Fixed.comparison(
                        new Fixed("a", turns, 1, 1, 1), new Fixed("b", turns, 1, 1, 1), new Fixed("c", turns, 1, 1, 1)),
                3);
        assertThat(String.join("", turns)).isEqualTo("abc" + "bca" + "cab");
    }

    @Test
    @DisplayName("a ratio is taken within a round: a machine that is slow for a round is slow for both")
    void paired() throws Exception {
        Outcome outcome =
                Fixed.play(Fixed.comparison(new Fixed("a", turns, 10, 100, 20), new Fixed("b", turns, 11, 110, 20)), 3);
        Ratio ratio = Ratio.paired(outcome.figures("b", "cost"), outcome.figures("a", "cost"))
                .orElseThrow();
        assertThat(ratio).isEqualTo(new Ratio(1.1, 1.0, 1.1));
    }

    @Test
    @DisplayName("who fails is out, keeps what it had, and spoils nobody's pairs")
    void failure() throws Exception {
        Outcome outcome = Fixed.play(Fixed.comparison(new Fixed("a", turns, 1, 2, 4), new Fixed("b", turns, 3)), 3);
        assertThat(outcome.failed()).isTrue();
        assertThat(outcome.figures("b", "cost")).containsExactly(3.0, null, null);
        assertThat(outcome.figures("a", "cost")).containsExactly(1.0, 2.0, 4.0);
        assertThat(Ratio.paired(outcome.figures("b", "cost"), outcome.figures("a", "cost")))
                .hasValue(new Ratio(3, 3, 3));
        assertThat(turns).as("not tried again").hasSize(3 + 2);
    }

    @Test
    void theMedianOfAnEvenNumberIsTheMeanOfTheMiddle() {
        assertThat(Ratio.median(4, 1, 3, 2)).isEqualTo(2.5);
        assertThat(Ratio.median(5, 1, 3)).isEqualTo(3);
        assertThat(Ratio.of(Arrays.asList(null, 7.0, 5.0))).hasValue(new Ratio(6, 5, 7));
        assertThat(Ratio.of(Arrays.asList((Double) null))).isEmpty();
        assertThat(Ratio.paired(List.of(1.0), List.of(0.0)))
                .as("nothing by zero")
                .isEmpty();
    }

    @Test
    void theFirstTakesThePlaceOfABaselineThatIsAbsent() {
        Comparison comparison = Fixed.comparison(new Fixed("a", turns), new Fixed("b", turns));
        assertThat(comparison.withBaselinePresent()).isSameAs(comparison);
        Comparison absent = new Comparison(
                "id", "title", "nobody", comparison.columns(), comparison.candidates(), comparison.targets());
        assertThat(absent.withBaselinePresent().baseline()).isEqualTo("a");
    }
}
