package io.millrace.console;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The first few of many, in an order. To sort 10,000 connections for a page of 200 is most of what a look at them costs;
 * this compares most of them once.
 */
final class FirstOf<T> {
    private final Comparator<T> order;
    private final int limit;
    /** The last of those that are kept is on top. */
    private final PriorityQueue<T> kept;

    private int added;

    /** @param limit how many to keep; at least 1 */
    FirstOf(Comparator<T> order, int limit) {
        this.order = order;
        this.limit = limit;
        this.kept = new PriorityQueue<>(order.reversed());
    }

    void add(T each) {
        added++;
        if (kept.size() < limit) {
            kept.add(each);
        } else if (order.compare(each, kept.element()) < 0) {
            kept.remove();
            kept.add(each);
        }
    }

    /** Returns how many were added, kept or not. */
    int added() {
        return added;
    }

    List<T> sorted() {
        List<T> sorted = new ArrayList<>(kept);
        sorted.sort(order);
        return sorted;
    }
}
