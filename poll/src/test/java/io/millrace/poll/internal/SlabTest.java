package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.sys.KernelKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Slab")
class SlabTest {
    private static final class Thing extends Slab.Entry {}

    private final Slab<Thing> slab = new Slab<>();

    @Test
    @DisplayName("the key of one that is gone finds nothing, though its slot has another owner")
    void aKeyIsNeverUsedAgain() {
        Thing first = new Thing();
        long before = slab.insert(first);
        assertThat(first.key()).isEqualTo(before);
        assertThat(slab.get(before)).isSameAs(first);
        slab.remove(first);
        assertThat(first.key()).isEqualTo(-1);
        assertThat(slab.get(before)).isNull();
        Thing second = new Thing();
        long after = slab.insert(second);
        assertThat(KernelKey.index(after)).isEqualTo(KernelKey.index(before));
        assertThat(after).isNotEqualTo(before);
        assertThat(slab.get(before)).isNull();
        assertThat(slab.get(after)).isSameAs(second);
    }

    @Test
    @DisplayName("the slot that was freed last is used first, and no other before all of them are used")
    void warmSlotsFirst() {
        List<Thing> things = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            things.add(new Thing());
            assertThat(KernelKey.index(slab.insert(things.get(i)))).isEqualTo(i);
        }
        things.forEach(slab::remove);
        assertThat(slab.size()).isZero();
        for (int i = 99; i >= 0; i--) {
            assertThat(KernelKey.index(slab.insert(new Thing()))).isEqualTo(i);
        }
        assertThat(slab.bound()).isEqualTo(100);
        assertThat(KernelKey.index(slab.insert(new Thing()))).isEqualTo(100);
    }

    @Test
    @DisplayName("a key behind all slots finds nothing")
    void behindAllSlots() {
        slab.insert(new Thing());
        for (int index : new int[] {1, 15, 16, 17, 1000}) {
            assertThat(slab.get(KernelKey.of(1, index))).as("index %s", index).isNull();
        }
    }

    @Test
    @DisplayName("behaves like a set of keys, whatever the order of inserts and removes")
    void likeASet() {
        Random random = new Random(3);
        List<Thing> live = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            if (live.isEmpty() || random.nextInt(5) < 3) {
                Thing thing = new Thing();
                assertThat(seen.add(slab.insert(thing))).isTrue();
                live.add(thing);
            } else {
                slab.remove(live.remove(random.nextInt(live.size())));
            }
            assertThat(slab.size()).isEqualTo(live.size());
        }
        Set<Thing> found = new HashSet<>();
        for (int i = 0; i < slab.bound(); i++) {
            Thing thing = slab.at(i);
            if (thing != null) {
                assertThat(KernelKey.index(thing.key())).isEqualTo(i);
                found.add(thing);
            }
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(live);
        for (long key : seen) {
            Thing thing = slab.get(key);
            assertThat(thing == null || thing.key() == key).isTrue();
        }
        assertThat(live).allSatisfy(thing -> assertThat(slab.get(thing.key())).isSameAs(thing));
    }
}
