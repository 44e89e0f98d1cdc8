package io.millrace.task;

/** A set of children as the fairness test sees it: ours, or one that is known to be unfair. */
interface Contestant {
    void add(Pollable<Integer> child);

    Step<Integer> poll(Waker parent);

    static Contestant ours() {
        FuturesUnordered<Integer> set = FuturesUnordered.create();
        return new Contestant() {
            @Override
            public void add(Pollable<Integer> child) {
                set.add(child);
            }

            @Override
            public Step<Integer> poll(Waker parent) {
                return set.poll(parent);
            }
        };
    }
}
