package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Position;
import io.millrace.engine.Reactors;
import io.millrace.testkit.Await;
import io.millrace.testkit.DeliveryHistory;
import io.millrace.testkit.DeliveryHistory.Outcome;
import io.millrace.testkit.DeliveryHistory.Recorder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The judge of the backplane's tests: it finds what is seeded, and nothing in what is right. */
@DisplayName("histories of deliveries")
class DeliveryHistoryTest {
    private final DeliveryHistory history = new DeliveryHistory();

    @ParameterizedTest
    @CsvSource({
        "acknowledges_what_it_drops,lost: p/16",
        "stores_twice,duplicate: p/16",
        "swaps,order: p/16",
        "hides_a_gap,lost: p/16",
    })
    @DisplayName("bp-3: the checker finds the bug in an engine that drops, repeats, swaps or hides")
    void seededBugs(String bug, String problem) throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                Backplane backplane = Backplane.open("faulty:" + bug, reactors)) {
            Recorder recorder = history.recorder("subscriber");
            recorder.started(backplane.topic("room").subscribe(recorder));
            List<CompletableFuture<Outcome>> all = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                all.add(history.publish(backplane.topic("room"), "p", i));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
            Await.until("the last has come", () -> recorder.has("p/39"));
        }
        assertThat(history.problems()).anyMatch(found -> found.contains(problem));
    }

    private static Position at(String epoch, long offset) {
        return new Position(epoch, offset);
    }

    private void acknowledge(String epoch, int from, int to) {
        IntStream.rangeClosed(from, to).forEach(i -> history.published("p/" + i, Outcome.ACKNOWLEDGED, at(epoch, i)));
    }

    @Test
    @DisplayName("bp-3: a gap that is told excuses what is in it, and nothing else")
    void whatAGapExcuses() {
        acknowledge("1", 1, 10);
        Recorder recorder = history.recorder("subscriber");
        recorder.startedAt(at("1", 0));
        recorder.onMessage("p/1", at("1", 1));
        recorder.onGap(new Gap(at("1", 1), at("1", 8)));
        recorder.onMessage("p/9", at("1", 9));

        assertThat(history.problems()).containsExactly("subscriber: lost: p/10 at 1:10");
    }

    @Test
    @DisplayName("bp-3: a new epoch excuses the end of the old one, and not its beginning")
    void whatANewEpochExcuses() {
        acknowledge("1", 1, 4);
        Recorder recorder = history.recorder("subscriber");
        recorder.startedAt(at("1", 0));
        recorder.onMessage("p/2", at("1", 2));
        recorder.onGap(new Gap(at("1", 2), at("2", 0)));
        history.published("p/5", Outcome.ACKNOWLEDGED, at("2", 1));
        recorder.onMessage("p/5", at("2", 1));

        assertThat(history.problems())
                .containsExactlyInAnyOrder(
                        "subscriber: untold gap: p/2 at 1:2 follows 1:0", "subscriber: lost: p/1 at 1:1");
    }

    @Test
    @DisplayName("bp-3: what was refused must not come, what is unknown may, and what is pending is a problem")
    void outcomes() {
        history.published("p/1", Outcome.REFUSED, null);
        history.published("p/2", Outcome.UNKNOWN, null);
        history.published("p/3", Outcome.UNKNOWN, null);
        history.published("p/4", Outcome.PENDING, null);
        Recorder recorder = history.recorder("subscriber");
        recorder.startedAt(at("1", 0));
        recorder.onMessage("p/1", at("1", 1));
        recorder.onMessage("p/2", at("1", 2));

        assertThat(history.problems())
                .containsExactlyInAnyOrder(
                        "subscriber: invented: p/1 at 1:1 was refused", "p/4 was neither acknowledged nor refused");
    }
}
