package io.millrace.task;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Counts polls through the public interface and holds the promise against them: between the return of a child's wake and its poll, no other
 * child is polled more than twice.
 *
 * <p>A wake is noted after it has returned, with everybody's polls so far, if the child has not been polled since the wake began; the note is
 * checked when the child is polled. So a wake that a poll overtook is not counted against anybody.
 */
final class FairnessReferee {
    /** What a child does in its poll, beside being pending. */
    enum Behaviour {
        QUIET,
        WAKES_ITSELF,
        WAKES_ITSELF_TWICE,
        WAKES_NEIGHBOURS,
        WAKES_ANYBODY
    }

    private static final int MOST_POLLS_BETWEEN = 2;

    private final int[] polls;
    private final int[][] noted;
    private final Waker[] wakers;
    private final RandomGenerator random;
    private int worst;
    private long total;

    FairnessReferee(int children, long seed) {
        polls = new int[children];
        noted = new int[children][];
        wakers = new Waker[children];
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    Pollable<Integer> child(int id, Behaviour behaviour) {
        return waker -> {
            polled(id, waker);
            switch (behaviour) {
                case QUIET -> {}
                case WAKES_ITSELF -> wake(id);
                case WAKES_ITSELF_TWICE -> {
                    wake(id);
                    wake(id);
                }
                case WAKES_NEIGHBOURS -> {
                    wake(id);
                    wake((id + 1) % polls.length);
                    wake((id + polls.length - 1) % polls.length);
                }
                case WAKES_ANYBODY -> {
                    for (int i = 0; i < 3; i++) {
                        wake(random.nextInt(polls.length));
                    }
                }
            }
            return Step.pending();
        };
    }

    private synchronized void polled(int id, Waker waker) {
        wakers[id] = waker;
        polls[id]++;
        total++;
        int[] then = noted[id];
        noted[id] = null;
        if (then != null) {
            for (int other = 0; other < polls.length; other++) {
                if (other != id) {
                    worst = Math.max(worst, polls[other] - then[other]);
                }
            }
        }
    }

    /** To be added is to be woken. */
    synchronized void added(int id) {
        if (polls[id] == 0) {
            noted[id] = polls.clone();
        }
    }

    void wake(int id) {
        Waker waker;
        int before;
        synchronized (this) {
            waker = wakers[id];
            before = polls[id];
        }
        if (waker == null) {
            return; // it has not had its first poll
        }
        waker.wake();
        synchronized (this) {
            if (polls[id] == before && noted[id] == null) {
                noted[id] = polls.clone();
            }
        }
    }

    synchronized int[] polls() {
        return polls.clone();
    }

    synchronized long total() {
        return total;
    }

    /** The most polls of another child between a wake and its poll, also for those who still wait. */
    synchronized int worst() {
        int most = worst;
        for (int id = 0; id < polls.length; id++) {
            int[] then = noted[id];
            for (int other = 0; then != null && other < polls.length; other++) {
                if (other != id) {
                    most = Math.max(most, polls[other] - then[other]);
                }
            }
        }
        return most;
    }

    boolean isKept() {
        return worst() <= MOST_POLLS_BETWEEN;
    }

    synchronized int spread() {
        return Arrays.stream(polls).max().orElse(0) - Arrays.stream(polls).min().orElse(0);
    }
}
