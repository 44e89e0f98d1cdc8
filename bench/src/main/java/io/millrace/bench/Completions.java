package io.millrace.bench;

import io.millrace.task.FuturesUnordered;
import io.millrace.task.Item;
import io.millrace.task.Outcome;
import io.millrace.task.Pollable;
import io.millrace.task.Step;
import io.millrace.task.Waker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.LinkedTransferQueue;
import org.jspecify.annotations.Nullable;

/**
 * The same work in different hands: n values are outstanding; they come, and whoever waits takes them. One thread does all, so that what is
 * measured is the work, not the wake-up of a sleeping core. Each makes its n children, waits once with nothing there, and then completes and
 * takes them in an {@link Order}. The sum of what was taken is checked.
 */
public enum Completions {
    /** Ours, with children of the least kind. */
    SET_OF_POLLABLES {
        @Override
        long run(int count, Order order) throws Exception {
            Promise[] promises = new Promise[count];
            long sum = 0;
            try (FuturesUnordered<Integer> set = FuturesUnordered.<Integer>builder()
                    .budget(Integer.MAX_VALUE)
                    .build()) {
                for (int i = 0; i < count; i++) {
                    promises[i] = new Promise();
                    set.add(promises[i]);
                }
                set.poll(Waker.none());
                for (int i = 0, at = 0; i < count; i += order.burst) {
                    int burst = Math.min(order.burst, count - i);
                    for (int j = 0; j < burst; j++, at = order.next(at, count)) {
                        promises[at].complete(at);
                    }
                    for (int j = 0; j < burst; j++) {
                        sum += value(set.next());
                    }
                }
            }
            return sum;
        }
    },

    /** Ours, with futures of the JDK as children. */
    SET_OF_FUTURES {
        @Override
        long run(int count, Order order) throws Exception {
            List<CompletableFuture<Integer>> futures = futures(count);
            long sum = 0;
            try (FuturesUnordered<Integer> set = FuturesUnordered.<Integer>builder()
                    .budget(Integer.MAX_VALUE)
                    .build()) {
                futures.forEach(set::add);
                set.poll(Waker.none());
                for (int i = 0, at = 0; i < count; i += order.burst) {
                    int burst = Math.min(order.burst, count - i);
                    for (int j = 0; j < burst; j++, at = order.next(at, count)) {
                        futures.get(at).complete(at);
                    }
                    for (int j = 0; j < burst; j++) {
                        sum += value(set.next());
                    }
                }
            }
            return sum;
        }
    },

    /** Futures of the JDK that put their values into a queue: what one writes by hand. */
    FUTURES_INTO_TRANSFER_QUEUE {
        @Override
        long run(int count, Order order) throws Exception {
            List<CompletableFuture<Integer>> futures = futures(count);
            LinkedTransferQueue<Integer> queue = new LinkedTransferQueue<>();
            long sum = 0;
            futures.forEach(future -> future.whenComplete((value, failure) -> queue.offer(value)));
            for (int i = 0, at = 0; i < count; i += order.burst) {
                int burst = Math.min(order.burst, count - i);
                for (int j = 0; j < burst; j++, at = order.next(at, count)) {
                    futures.get(at).complete(at);
                }
                for (int j = 0; j < burst; j++) {
                    sum += queue.take();
                }
            }
            return sum;
        }
    },

    /** The queue alone: no children, nobody to poll, cancel or remove; the floor for any hand-over by it. */
    BARE_TRANSFER_QUEUE {
        @Override
        long run(int count, Order order) throws Exception {
            LinkedTransferQueue<Integer> queue = new LinkedTransferQueue<>();
            Promise[] promises = new Promise[count];
            for (int i = 0; i < count; i++) {
                promises[i] = new Promise();
            }
            long sum = 0;
            for (int i = 0, at = 0; i < count; i += order.burst) {
                int burst = Math.min(order.burst, count - i);
                for (int j = 0; j < burst; j++, at = order.next(at, count)) {
                    promises[at].complete(at);
                    queue.offer(promises[at].value);
                }
                for (int j = 0; j < burst; j++) {
                    sum += queue.take();
                }
            }
            return sum;
        }
    },

    /** The JDK's own set of futures; its executor keeps the tasks until their turn has come. */
    COMPLETION_SERVICE {
        @Override
        long run(int count, Order order) throws Exception {
            List<Runnable> tasks = new ArrayList<>(count);
            CompletionService<Integer> service = new ExecutorCompletionService<>(tasks::add);
            for (int i = 0; i < count; i++) {
                int value = i;
                service.submit(() -> value);
            }
            long sum = 0;
            for (int i = 0, at = 0; i < count; i += order.burst) {
                int burst = Math.min(order.burst, count - i);
                for (int j = 0; j < burst; j++, at = order.next(at, count)) {
                    tasks.get(at).run();
                }
                for (int j = 0; j < burst; j++) {
                    sum += service.take().get();
                }
            }
            return sum;
        }
    },

    /** Waits for any of the rest, n times: quadratic, so not for a large n. */
    ANY_OF {
        @Override
        long run(int count, Order order) throws Exception {
            List<CompletableFuture<Integer>> futures = futures(count);
            Map<Integer, CompletableFuture<Integer>> rest = new HashMap<>();
            for (int i = 0; i < count; i++) {
                rest.put(i, futures.get(i));
            }
            long sum = 0;
            for (int i = 0, at = 0; i < count; i += order.burst) {
                int burst = Math.min(order.burst, count - i);
                for (int j = 0; j < burst; j++, at = order.next(at, count)) {
                    futures.get(at).complete(at);
                }
                for (int j = 0; j < burst; j++) {
                    Integer taken =
                            (Integer) CompletableFuture.anyOf(rest.values().toArray(CompletableFuture<?>[]::new))
                                    .get();
                    rest.remove(taken);
                    sum += taken;
                }
            }
            return sum;
        }

        @Override
        int largest() {
            return 1_000;
        }
    };

    /** In which order values come, and how many at a time before somebody looks. */
    public enum Order {
        /** In the order of their making, each taken before the next one comes: the caches are warm. */
        ONE_BY_ONE(1, 1),
        /** Far apart from each other, each taken before the next one comes: where n is large, no cache holds what is needed next. */
        SCATTERED(37, 1),
        /** Far apart from each other, 64 at a time. */
        SCATTERED_BURSTS(37, 64);

        private final int stride;
        private final int burst;

        Order(int stride, int burst) {
            this.stride = stride;
            this.burst = burst;
        }

        /** Walks through 0 … count − 1, for a count that the stride does not divide. */
        int next(int at, int count) {
            int next = at + stride;
            return next >= count ? next - count : next;
        }
    }

    /** Makes, completes and takes n; the sum of the values. */
    abstract long run(int count, Order order) throws Exception;

    /** Beyond this it takes too long to be measured. */
    int largest() {
        return Integer.MAX_VALUE;
    }

    /** Runs it and checks that every value came once. */
    public void runChecked(int count, Order order) throws Exception {
        long sum = run(count, order);
        if (sum != (long) count * (count - 1) / 2) {
            throw new AssertionError(this + " lost something: " + sum);
        }
    }

    private static int value(@Nullable Outcome<Integer> outcome) {
        if (outcome instanceof Item<Integer>(Integer value)) {
            return value;
        }
        throw new AssertionError("no value but " + outcome);
    }

    private static List<CompletableFuture<Integer>> futures(int count) {
        List<CompletableFuture<Integer>> futures = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            futures.add(new CompletableFuture<>());
        }
        return futures;
    }

    /** The least that a child can be: a value and a waker. */
    static final class Promise implements Pollable<Integer> {
        private volatile @Nullable Integer value;
        private volatile @Nullable Waker waker;

        @Override
        public Step<Integer> poll(Waker latest) {
            Integer there = value;
            if (there == null) {
                waker = latest;
                there = value;
            }
            return there == null ? Step.pending() : Step.item(there);
        }

        void complete(int with) {
            value = with;
            Waker latest = waker;
            if (latest != null) {
                latest.wake();
            }
        }
    }
}
