package io.millrace.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The first few of many")
class FirstOfTest {
    @Test
    @DisplayName("obs-3: a page has what it would have if all were sorted, whatever the order and the limit")
    void asIfSorted() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            List<Integer> all = new ArrayList<>();
            for (int i = random.nextInt(60); i > 0; i--) {
                all.add(random.nextInt(40));
            }
            Comparator<Integer> order = random.nextBoolean() ? Comparator.naturalOrder() : Collections.reverseOrder();
            int limit = 1 + random.nextInt(30);
            FirstOf<Integer> first = new FirstOf<>(order, limit);
            all.forEach(first::add);
            assertThat(first.added()).as("seed %d", seed).isEqualTo(all.size());
            all.sort(order);
            assertThat(first.sorted()).as("seed %d", seed).isEqualTo(all.subList(0, Math.min(limit, all.size())));
        }
    }
}
