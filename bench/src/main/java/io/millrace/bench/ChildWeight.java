package io.millrace.bench;

import io.millrace.task.FuturesUnordered;
import io.millrace.task.Pollable;
import io.millrace.task.Step;
import io.millrace.task.Waker;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * What a child weighs: the heap in use after a full collection, with a million children in a set less without, divided by a million. The
 * children are one shared object, or futures that were there before, so what is counted is the set's own and its adapters'.
 */
final class ChildWeight {
    private static final int COUNT = 1_000_000;

    private ChildWeight() {}

    static Map<String, Double> measure() {
        Map<String, Double> weights = new LinkedHashMap<>();
        Pollable<Integer> never = waker -> Step.pending();
        weights.put("pollable", weigh(FuturesUnordered.create(), (set, i) -> set.add(never)));
        @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
        CompletableFuture<Integer>[] futures = new CompletableFuture[COUNT];
        for (int i = 0; i < COUNT; i++) {
            futures[i] = new CompletableFuture<>();
        }
        weights.put("stage", weigh(FuturesUnordered.create(), (set, i) -> set.add(futures[i])));
        return weights;
    }

    private interface Adding {
        void add(FuturesUnordered<Integer> set, int i);
    }

    private static double weigh(FuturesUnordered<Integer> set, Adding adding) {
        long before = used();
        for (int i = 0; i < COUNT; i++) {
            adding.add(set, i);
        }
        for (int polled = 0; polled < COUNT; polled += 1_024) {
            set.poll(Waker.none()); // until every child has had its first poll
        }
        long after = used();
        if (set.size() != COUNT) {
            throw new AssertionError(set);
        }
        return (after - before) / (double) COUNT;
    }

    private static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(
                    least,
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }
}
