package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The promise of {@link Unordered}, under hostile wakers; and the same bouts against those who do not keep it. */
class FairnessTest {
    private static final int CHILDREN = 200;
    private static final long SEED = Long.getLong("millrace.seed", 42);

    /** One child in ten behaves so, the rest is quiet and is woken by a clock that ticks while polls are counted. */
    enum Bout {
        SELF_WAKERS(FairnessReferee.Behaviour.WAKES_ITSELF, 0),
        DOUBLE_SELF_WAKERS(FairnessReferee.Behaviour.WAKES_ITSELF_TWICE, 0),
        WAKERS_OF_NEIGHBOURS(FairnessReferee.Behaviour.WAKES_NEIGHBOURS, 0),
        WAKERS_OF_ANYBODY(FairnessReferee.Behaviour.WAKES_ANYBODY, 0),
        SELF_WAKERS_AND_OTHER_THREADS(FairnessReferee.Behaviour.WAKES_ITSELF_TWICE, 2),
        NEIGHBOURS_AND_OTHER_THREADS(FairnessReferee.Behaviour.WAKES_NEIGHBOURS, 2);

        private final FairnessReferee.Behaviour behaviour;
        private final int threads;

        Bout(FairnessReferee.Behaviour behaviour, int threads) {
            this.behaviour = behaviour;
            this.threads = threads;
        }

        FairnessReferee fight(Contestant contestant, int polls) throws InterruptedException {
            FairnessReferee referee = new FairnessReferee(CHILDREN, SEED);
            for (int id = 0; id < CHILDREN; id++) {
                contestant.add(referee.child(id, id % 10 == 3 ? behaviour : FairnessReferee.Behaviour.QUIET));
                referee.added(id);
            }
            RandomGenerator clock =
                    RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
            AtomicBoolean over = new AtomicBoolean();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < this.threads; i++) {
                RandomGenerator random =
                        RandomGeneratorFactory.of("L64X128MixRandom").create(SEED + i);
                threads.add(Thread.ofPlatform().start(() -> {
                    while (!over.get()) {
                        referee.wake(random.nextInt(CHILDREN));
                    }
                }));
            }
            try {
                while (referee.total() < polls) {
                    contestant.poll(Waker.none());
                    referee.wake(clock.nextInt(CHILDREN));
                }
            } finally {
                over.set(true);
                for (Thread thread : threads) {
                    thread.join();
                }
            }
            return referee;
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "uni-5: between a child's wake and its poll no other child is polled more than twice, whatever wakers do")
    void thePromiseIsKept(Bout bout) throws InterruptedException {
        FairnessReferee referee = bout.fight(Contestant.ours(), 100_000);
        assertThat(referee.isKept())
                .as("%s, seed %d: %d polls", bout, SEED, referee.worst())
                .isTrue();
    }

    @Test
    @DisplayName("uni-5: the same bouts find out both kinds of naive ready queue")
    void naiveQueuesFail() throws InterruptedException {
        for (NaiveReadyQueue.Variant variant : NaiveReadyQueue.Variant.values()) {
            FairnessReferee referee = Bout.DOUBLE_SELF_WAKERS.fight(new NaiveReadyQueue(variant), 100_000);
            assertThat(referee.isKept())
                    .as("%s: %d polls", variant, referee.worst())
                    .isFalse();
            assertThat(referee.worst()).isGreaterThan(10);
        }
    }

    @Test
    @DisplayName("uni-5: a self-waking child is polled exactly twice in two cycles")
    void oncePerCycle() {
        Contestant set = Contestant.ours();
        FairnessReferee referee = new FairnessReferee(1, SEED);
        set.add(referee.child(0, FairnessReferee.Behaviour.WAKES_ITSELF_TWICE));
        set.poll(Waker.none());
        set.poll(Waker.none());
        assertThat(referee.polls()).containsExactly(2);
    }

    @Test
    @DisplayName(
            "uni-5: one spinner among 100 quiet ones that are woken in every cycle: polls differ by at most 1; a naive"
                    + " queue's do not")
    void spinnerAmongQuietOnes() {
        assertThat(spread(Contestant.ours())).isLessThanOrEqualTo(1);
        assertThat(spread(new NaiveReadyQueue(NaiveReadyQueue.Variant.AT_THE_HEAD)))
                .isGreaterThan(1);
        assertThat(spread(new NaiveReadyQueue(NaiveReadyQueue.Variant.EVERY_WAKE_COUNTS)))
                .isGreaterThan(1);
    }

    private static int spread(Contestant set) {
        FairnessReferee referee = new FairnessReferee(101, SEED);
        for (int id = 0; id <= 100; id++) {
            set.add(referee.child(
                    id, id == 37 ? FairnessReferee.Behaviour.WAKES_ITSELF_TWICE : FairnessReferee.Behaviour.QUIET));
        }
        while (referee.total() < 10_000) {
            set.poll(Waker.none());
            for (int id = 0; id <= 100; id++) {
                if (id != 37) {
                    referee.wake(id);
                }
            }
        }
        return referee.spread();
    }

    @Test
    @DisplayName(
            "uni-5: a wake-up during a cycle goes to the next, unless the child's turn in this one is still to come")
    void wakesDuringACycle() {
        List<String> log = new ArrayList<>();
        Waker[] wakers = new Waker[3];
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            for (int i = 0; i < 3; i++) {
                int id = i;
                set.add(waker -> {
                    wakers[id] = waker;
                    log.add("poll " + id);
                    if (id == 1 && log.size() < 7) {
                        for (Waker other : wakers) {
                            if (other != null) {
                                other.wake();
                            }
                        }
                    }
                    if (id == 0 && log.size() == 8) {
                        wakers[2].wake();
                    }
                    return Step.pending();
                });
            }
            set.poll(Waker.none()); // 1 wakes 0 and itself: the next cycle. 2 has no waker yet.
            log.add("cycle");
            set.poll(Waker.none()); // 1 wakes 0, itself, and 2, who has no turn in this cycle.
            log.add("cycle");
            set.poll(Waker.none()); // 0 wakes 2, who has a turn in this cycle.
            log.add("cycle");
            set.poll(Waker.none());
        }
        assertThat(String.join(", ", log))
                .isEqualTo("poll 0, poll 1, poll 2, cycle, poll 0, poll 1, cycle, poll 0, poll 1, poll 2, cycle");
    }
}
