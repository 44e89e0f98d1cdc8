package io.millrace.examples.howto;

import io.millrace.task.Failed;
import io.millrace.task.FuturesUnordered;
import io.millrace.task.Item;
import io.millrace.task.Pollable;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Ten thousand look-ups, of which at most a hundred are under way at any time. */
public final class LookUps {
    private LookUps() {}

    /**
     * Looks up all numbers below a limit.
     *
     * @param args how many
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        int count = args.length == 0 ? 10_000 : Integer.parseInt(args[0]);
        Database database = new Database();
        long sum = 0;
        int failed = 0;
        try (var lookUps = FuturesUnordered.<Integer>builder()
                .limit(100)
                .timeout(Duration.ofSeconds(5)) // for each of them
                .from(IntStream.range(0, count).boxed().toList(), key -> Pollable.of(database.find(key)))) {
            for (var outcome : lookUps) { // as they complete; parks
                switch (outcome) {
                    case Item(Integer value) -> sum += value;
                    case Failed<Integer> failure -> failed++;
                }
            }
        }
        System.out.println("sum " + sum + ", " + failed + " failed, at most " + database.most.get() + " at a time");
    }

    /** Stands for a database with an asynchronous driver; it does not know numbers that end in 99. */
    private static final class Database {
        private final Executor later = CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS);
        private final AtomicInteger underWay = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        CompletionStage<Integer> find(int key) {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            return CompletableFuture.supplyAsync(
                    () -> {
                        underWay.decrementAndGet();
                        if (key % 100 == 99) {
                            throw new IllegalArgumentException("no " + key);
                        }
                        return key;
                    },
                    later);
        }
    }
}
