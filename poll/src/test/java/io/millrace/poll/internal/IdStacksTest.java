package io.millrace.poll.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("IdStacks")
class IdStacksTest {
    private final IdStacks stacks = new IdStacks();

    @Test
    @DisplayName("many stacks out of one pool each give back what was put on them, last in first out")
    void lastInFirstOut() {
        Random random = new Random(9);
        int[] tops = new int[20];
        List<List<Integer>> model = new ArrayList<>();
        for (int i = 0; i < tops.length; i++) {
            model.add(new ArrayList<>());
        }
        for (int i = 0; i < 100_000; i++) {
            int one = random.nextInt(tops.length);
            List<Integer> ids = model.get(one);
            // Grows to some 30,000 ids, more than a chunk has, and shrinks again.
            boolean push = random.nextInt(10) < (i < 50_000 ? 8 : 4);
            if (push || ids.isEmpty()) {
                int id = random.nextInt();
                tops[one] = stacks.push(tops[one], id);
                ids.add(id);
            } else {
                assertThat(stacks.get(tops[one])).isEqualTo(ids.removeLast());
                tops[one] = stacks.pop(tops[one]);
            }
            assertThat(tops[one] == IdStacks.EMPTY).isEqualTo(ids.isEmpty());
        }
        for (int i = 0; i < tops.length; i++) {
            int[] out = new int[model.get(i).size() + 2];
            stacks.drain(tops[i], out, out.length - 1);
            assertThat(IntStream.of(out).skip(1).limit(model.get(i).size()).boxed())
                    .containsExactlyElementsOf(model.get(i));
            assertThat(out[0]).isZero();
            assertThat(out[out.length - 1]).isZero();
        }
    }

    @Test
    @DisplayName("depth is exact up to the limit, and above it behind")
    void depth() {
        int top = IdStacks.EMPTY;
        assertThat(stacks.depth(top, 10)).isZero();
        for (int count = 1; count <= 100; count++) {
            top = stacks.push(top, count);
            assertThat(stacks.depth(top, 100)).isEqualTo(count);
            assertThat(stacks.depth(top, count)).isEqualTo(count);
            assertThat(stacks.depth(top, count - 1)).isGreaterThan(count - 1);
        }
        // A look that stops early: one block more is not counted.
        assertThat(stacks.depth(top, 10)).isLessThanOrEqualTo(2 * 31);
    }

    @Test
    @DisplayName("an emptied stack gives its memory to the others: the positions are the same again")
    void memoryIsUsedAgain() {
        int highest = 0;
        for (int round = 0; round < 50; round++) {
            int top = IdStacks.EMPTY;
            int most = 0;
            for (int i = 0; i < 40_000; i++) {
                top = stacks.push(top, i);
                most = Math.max(most, top);
            }
            highest = round == 0 ? most : highest;
            assertThat(most).isEqualTo(highest);
            if (round % 2 == 0) {
                stacks.drain(top, new int[40_000], 40_000);
            } else {
                for (int i = 0; i < 40_000; i++) {
                    top = stacks.pop(top);
                }
                assertThat(top).isEqualTo(IdStacks.EMPTY);
            }
        }
        // 31 ids in a block of 32, and the first block is not used.
        assertThat(highest).isLessThan((40_000 / 31 + 3) * 32);
    }
}
