package io.millrace.bench;

import io.millrace.task.FuturesUnordered;
import io.millrace.task.Pollable;
import io.millrace.task.Step;
import io.millrace.task.Waker;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Who is polled how often: 1,000 children who are woken by a clock that ticks once per 1,000 polls, and among them one that wakes itself, twice,
 * whenever it is polled. In our set, and in two ready queues as one writes them first. No time is involved: the counts are the same on every machine.
 */
final class Spinner {
    private static final int CHILDREN = 1_000;
    private static final int SPINNER = 500;
    private static final int POLLS = 100_000;
    private static final int POLLS_PER_CALL = 32;

    private Spinner() {}

    /** Polls per child, by candidate. */
    record Result(Map<String, int[]> polls) {
        String csv() {
            StringBuilder csv = new StringBuilder("child");
            polls.keySet().forEach(name -> csv.append(',').append(name));
            for (int i = 0; i < CHILDREN; i++) {
                csv.append('\n').append(i);
                for (int[] counts : polls.values()) {
                    csv.append(',').append(counts[i]);
                }
            }
            return csv.append('\n').toString();
        }

        String summary() {
            StringBuilder text = new StringBuilder();
            polls.forEach((name, counts) -> {
                int[] others = others(counts);
                text.append(String.format(
                        Locale.ROOT,
                        "%s: spinner %d polls, others %d to %d, median %d%n",
                        name,
                        counts[SPINNER],
                        others[0],
                        others[others.length - 1],
                        others[others.length / 2]));
            });
            return text.toString();
        }

        private static int[] others(int[] counts) {
            int[] others = new int[counts.length - 1];
            for (int i = 0, j = 0; i < counts.length; i++) {
                if (i != SPINNER) {
                    others[j++] = counts[i];
                }
            }
            Arrays.sort(others);
            return others;
        }

        String plot() {
            return Plot.counts(
                    "Polls per child: 1,000 children, child 500 wakes itself in every poll (100,000 polls)", polls);
        }
    }

    static Result measure() {
        Map<String, int[]> polls = new LinkedHashMap<>();
        polls.put("FuturesUnordered", run(new Ours()));
        polls.put("queue with woken ones at its head", run(new Naive(true)));
        polls.put("queue in which every wake-up counts", run(new Naive(false)));
        return new Result(polls);
    }

    private interface Candidate {
        void add(Pollable<Integer> child);

        void poll();
    }

    private static int[] run(Candidate candidate) {
        int[] polls = new int[CHILDREN];
        Waker[] wakers = new Waker[CHILDREN];
        int[] total = {0};
        for (int i = 0; i < CHILDREN; i++) {
            int id = i;
            candidate.add(waker -> {
                wakers[id] = waker;
                if (total[0]++ < POLLS) {
                    polls[id]++;
                }
                if (id == SPINNER) {
                    waker.wake();
                    waker.wake();
                }
                return Step.pending();
            });
        }
        for (int ticks = 0; total[0] < POLLS; ) {
            candidate.poll();
            // The clock ticks as often as there were polls for all: everybody who was ever polled has something to do
            // again.
            for (; ticks < total[0] / CHILDREN; ticks++) {
                for (int i = 0; i < CHILDREN; i++) {
                    if (i != SPINNER && wakers[i] != null) {
                        wakers[i].wake();
                    }
                }
            }
        }
        return polls;
    }

    private static final class Ours implements Candidate {
        private final FuturesUnordered<Integer> set = FuturesUnordered.create();

        @Override
        public void add(Pollable<Integer> child) {
            set.add(child);
        }

        @Override
        public void poll() {
            set.poll(Waker.none());
        }
    }

    /** Drains a queue of those who were woken, at most 32 a call. */
    private static final class Naive implements Candidate {
        private final Deque<Entry> ready = new ArrayDeque<>();
        private final boolean atTheHead;

        Naive(boolean atTheHead) {
            this.atTheHead = atTheHead;
        }

        private final class Entry implements Waker {
            private final Pollable<Integer> child;
            private boolean queued;

            Entry(Pollable<Integer> child) {
                this.child = child;
            }

            @Override
            public void wake() {
                if (!atTheHead) {
                    ready.addLast(this);
                } else if (!queued) {
                    queued = true;
                    ready.addFirst(this);
                }
            }
        }

        @Override
        public void add(Pollable<Integer> child) {
            new Entry(child).wake();
        }

        @Override
        public void poll() {
            for (int i = 0; i < POLLS_PER_CALL && !ready.isEmpty(); i++) {
                Entry entry = ready.pollFirst();
                entry.queued = false;
                try {
                    entry.child.poll(entry);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
    }
}
