package io.millrace.poll;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The event queue of a {@link Notifier}: a list with a head, a tail and a mark, as in Tcl.
 *
 * <p>The mark is the last event that was queued at it; events queued at the mark go behind that one, so they keep their
 * order among themselves and precede everything at the tail. While an event runs, it cannot be reached: a nested call
 * runs others, and deleting does not touch it. Neither events nor predicates run under the lock.
 */
final class EventQueue {
    private static final class Link {
        final Notifier.Task task;

        @Nullable
        Link next;

        @Nullable
        Link previous;

        boolean running;
        boolean queued = true;

        Link(Notifier.Task task) {
            this.task = task;
        }
    }

    // All of these are guarded by this.
    private @Nullable Link first;
    private @Nullable Link last;
    private @Nullable Link mark;
    private int size;
    private boolean closed;

    /** Adds an event. Returns false if the queue is closed; then nothing was queued. */
    synchronized boolean add(Notifier.Task task, Notifier.Position position) {
        if (closed) {
            return false;
        }
        Link link = new Link(task);
        switch (position) {
            case HEAD -> insertAfter(null, link);
            case TAIL -> insertAfter(last, link);
            case MARK -> {
                insertAfter(mark, link);
                mark = link;
            }
        }
        size++;
        return true;
    }

    /** Inserts a link; at the front if {@code before} is null. */
    private void insertAfter(@Nullable Link before, Link link) {
        Link after = before == null ? first : before.next;
        link.previous = before;
        link.next = after;
        if (before == null) {
            first = link;
        } else {
            before.next = link;
        }
        if (after == null) {
            last = link;
        } else {
            after.previous = link;
        }
    }

    /**
     * Runs the first event that can run. An event that throws is finished; the exception goes to the caller, which
     * drives the notifier.
     */
    boolean serviceOne() {
        for (Link link = runNext(null); link != null; link = runNext(link)) {
            boolean over = true;
            try {
                over = link.task.run();
            } finally {
                finish(link, over);
            }
            if (over) {
                return true;
            }
        }
        return false;
    }

    /** Returns the first event behind {@code after} that is not running, and marks it as running. */
    private synchronized @Nullable Link runNext(@Nullable Link after) {
        Link link = after == null || !after.queued ? first : after.next;
        while (link != null && link.running) {
            link = link.next;
        }
        if (link != null) {
            link.running = true;
        }
        return link;
    }

    private synchronized void finish(Link link, boolean over) {
        link.running = false;
        if (over) {
            remove(link);
        }
    }

    int delete(Predicate<Notifier.Task> which) {
        List<Link> gone = snapshot();
        gone.removeIf(link -> !which.test(link.task));
        return removeAll(gone);
    }

    private synchronized List<Link> snapshot() {
        List<Link> links = new ArrayList<>(size);
        for (Link link = first; link != null; link = link.next) {
            links.add(link);
        }
        return links;
    }

    private synchronized int removeAll(List<Link> links) {
        int before = size;
        for (Link link : links) {
            if (!link.running) {
                remove(link);
            }
        }
        return before - size;
    }

    private void remove(Link link) {
        if (!link.queued) {
            return;
        }
        link.queued = false;
        Link before = link.previous;
        Link after = link.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        if (mark == link) {
            mark = before;
        }
        size--;
    }

    synchronized void close() {
        closed = true;
        for (Link link = first; link != null; link = link.next) {
            link.queued = false;
        }
        first = null;
        last = null;
        mark = null;
        size = 0;
    }

    synchronized int size() {
        return size;
    }
}
