package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("SlotBitmap")
class SlotBitmapTest {
    private static int next(BitSet model, int from) {
        int ahead = model.nextSetBit(from);
        return ahead >= 0 ? ahead : model.nextSetBit(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 128, 4096, 4160, 8192, 65_536})
    @DisplayName("finds the next occupied slot from anywhere, going round")
    void goesRound(int slots) {
        Random random = new Random(slots);
        SlotBitmap bitmap = new SlotBitmap(slots);
        BitSet model = new BitSet();
        for (int from : new int[] {0, 63, slots / 2, slots - 1}) {
            assertThat(bitmap.next(from)).isEqualTo(-1);
        }
        for (int i = 0; i < 3_000; i++) {
            int slot = random.nextInt(8) == 0 ? (random.nextBoolean() ? 0 : slots - 1) : random.nextInt(slots);
            if (random.nextInt(3) == 0 || model.cardinality() > 6) {
                int present = next(model, slot);
                if (present >= 0) {
                    bitmap.clear(present);
                    model.clear(present);
                }
            } else {
                bitmap.set(slot);
                model.set(slot);
            }
            int from = random.nextInt(slots);
            assertThat(bitmap.next(from)).as("from %s in %s", from, model).isEqualTo(next(model, from));
            if (!model.isEmpty()) {
                int present = next(model, from);
                assertThat(bitmap.next(present)).isEqualTo(present);
            }
        }
    }

    @Test
    @DisplayName(
            "one that grows keeps what it has, and is at least twice as large; one that is large enough is not copied")
    void grows() {
        SlotBitmap small = new SlotBitmap(64);
        small.set(63);
        assertThat(small.atLeast(64)).isSameAs(small);
        SlotBitmap larger = small.atLeast(65);
        assertThat(larger).isNotSameAs(small);
        assertThat(larger.atLeast(128)).isSameAs(larger);
        SlotBitmap twice = larger.atLeast(129);
        assertThat(twice).isNotSameAs(larger);
        assertThat(twice.atLeast(256)).isSameAs(twice);
        larger.set(127);
        SlotBitmap huge = larger.atLeast(70_000);
        huge.set(69_999);
        assertThat(huge.next(0)).isEqualTo(63);
        assertThat(huge.next(64)).isEqualTo(127);
        assertThat(huge.next(128)).isEqualTo(69_999);
        assertThat(huge.next(70_000)).isEqualTo(63);
    }
}
