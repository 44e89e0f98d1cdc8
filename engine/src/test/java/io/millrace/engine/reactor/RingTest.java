package io.millrace.engine.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RingTest {
    @Test
    @DisplayName(
            "what is looked at ahead are the first items, also around the end of the array, and all stay in their places")
    void touchesTheFirst() {
        List<Integer> touched = new ArrayList<>();
        Ring ring = new Ring();
        for (int i = 0; i < 50; i++) {
            ring.add(() -> {});
        }
        for (int i = 0; i < 50; i++) {
            ring.take();
        }
        List<Item> items =
                IntStream.range(0, 40).mapToObj(i -> new Item(i, touched)).toList();
        items.forEach(ring::add);

        int sum = ring.prefetch(30);

        assertThat(touched)
                .containsExactlyElementsOf(IntStream.range(0, 30).boxed().toList());
        assertThat(sum).isEqualTo(30);
        assertThat(IntStream.range(0, 40).mapToObj(i -> ring.take()).toList()).containsExactlyElementsOf(items);
    }

    @Test
    @DisplayName("items that are not distant are left alone")
    void leavesOthersAlone() {
        Ring ring = new Ring();
        ring.add(() -> {});
        assertThat(ring.prefetch(1)).isZero();
        assertThat(ring.size()).isEqualTo(1);
    }

    private record Item(int number, List<Integer> touched) implements Runnable, Prefetchable {
        @Override
        public void run() {}

        @Override
        public int prefetch() {
            touched.add(number);
            return 1;
        }
    }
}
