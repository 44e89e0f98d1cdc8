package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WakeSetTest {
    private static final long SEED = Long.getLong("millrace.seed", 7);

    private final WakeSet wakes = new WakeSet();

    @ParameterizedTest
    @ValueSource(ints = {1, 63, 64, 65, 4095, 4096, 4097, 262_144, 262_145})
    @DisplayName(
            "uni-6: every size across the layers: one flagged child among all is found, and it alone; all of them in"
                    + " index order")
    void layers(int size) {
        List<Child> children = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            children.add(wakes.add(i, 0));
        }
        assertThat(drain()).as("nobody was woken").isEmpty();
        for (int i : new int[] {0, size / 2, size - 1}) {
            children.get(i).ask();
            assertThat(drain()).containsExactly(i);
        }
        for (int i = size - 1; i >= 0; i--) {
            children.get(i).ask();
        }
        List<Integer> all = drain();
        assertThat(all).hasSize(size).isSorted().doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("uni-6: what is flagged during a cycle is in the next, behind the cursor and before it")
    void swapping() {
        Child[] children = new Child[200];
        for (int i = 0; i < children.length; i++) {
            children[i] = wakes.add(i, 0);
        }
        children[100].ask();
        assertThat(wakes.startCycle()).isTrue();
        assertThat(wakes.next()).isSameAs(children[100]);
        assertThat(children[100].begin()).isTrue();
        for (int i : new int[] {3, 100, 199}) {
            children[i].ask();
        }
        assertThat(wakes.next()).isNull();
        assertThat(drain()).containsExactly(3, 100, 199);
    }

    @Test
    @DisplayName(
            "uni-6: random adds, removes and wakes behave as two sorted sets would; freed indices are reused before"
                    + " new ones")
    void model() {
        SplittableRandom random = new SplittableRandom(SEED);
        TreeMap<Integer, Child> live = new TreeMap<>();
        TreeSet<Integer> woken = new TreeSet<>();
        int most = 0;
        for (int step = 0; step < 100_000; step++) {
            int dice = random.nextInt(100);
            if (dice < 45 || live.isEmpty()) {
                Child child = wakes.add(step, 0);
                int index = index(child);
                assertThat(index).as("seed %d", SEED).isLessThanOrEqualTo(most);
                most = Math.max(most, live.size() + 1);
                assertThat(live.put(index, child)).isNull();
            } else if (dice < 80) {
                Integer index = someKey(live, random);
                Child child = live.remove(index);
                woken.remove(index);
                assertThat(wakes.find(child.key())).isSameAs(child);
                child.finish();
                wakes.free(child);
                wakes.countRemoved();
                assertThat(wakes.find(child.key())).isNull();
            } else if (dice < 99) {
                Integer index = someKey(live, random);
                live.get(index).ask();
                woken.add(index);
            } else {
                assertThat(drain()).as("seed %d", SEED).containsExactlyElementsOf(woken);
                woken.clear();
            }
        }
        assertThat(wakes.size()).isEqualTo(live.size());
    }

    private static Integer someKey(NavigableMap<Integer, Child> live, SplittableRandom random) {
        Integer key = live.ceilingKey(random.nextInt(live.lastKey() + 1));
        assertThat(key).isNotNull();
        return key;
    }

    @RepeatedTest(5)
    @DisplayName("uni-6: 10k one-shots completed from other threads while the consumer swaps: none is lost, none comes"
            + " twice")
    void oneShots() throws InterruptedException {
        int count = 10_000;
        int threads = 3;
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            List<Promise<Integer>> promises = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Promise<Integer> promise = new Promise<>();
                promises.add(promise);
                set.add(promise);
            }
            AtomicInteger next = new AtomicInteger();
            CountDownLatch started = new CountDownLatch(threads);
            for (int i = 0; i < threads; i++) {
                Thread.ofPlatform().start(() -> {
                    started.countDown();
                    for (int at = next.getAndIncrement(); at < count; at = next.getAndIncrement()) {
                        promises.get(at * 7919 % count).complete(at);
                    }
                });
            }
            started.await();
            assertThat(set.collectAll().orThrow()).hasSize(count).doesNotHaveDuplicates();
        }
    }

    @Test
    @DisplayName("uni-6: children added from other threads while the set grows by layers: none is lost")
    void addingFromOtherThreads() throws InterruptedException {
        int each = 50_000;
        int threads = 3;
        CountDownLatch added = new CountDownLatch(threads);
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            for (int i = 0; i < threads; i++) {
                int base = i * each;
                Thread.ofPlatform().start(() -> {
                    for (int at = 0; at < each; at++) {
                        int value = base + at;
                        set.add(waker -> Step.item(value));
                    }
                    added.countDown();
                });
            }
            boolean[] came = new boolean[threads * each];
            int missing = came.length;
            while (missing > 0) {
                Outcome<Integer> outcome = set.next();
                if (outcome instanceof Item<Integer>(Integer value)) {
                    assertThat(came[value]).as("twice: %d", value).isFalse();
                    came[value] = true;
                    missing--;
                }
            }
            added.await();
            assertThat(set.next()).isNull();
        }
    }

    /** A cycle. */
    private List<Integer> drain() {
        List<Integer> found = new ArrayList<>();
        if (wakes.startCycle()) {
            for (Child child = wakes.next(); child != null; child = wakes.next()) {
                if (child.begin()) {
                    found.add(index(child));
                    child.pause();
                }
            }
        }
        return found;
    }

    private static int index(Child child) {
        return (int) child.key();
    }
}
