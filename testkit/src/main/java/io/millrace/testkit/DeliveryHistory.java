package io.millrace.testkit;

import io.millrace.backplane.Gap;
import io.millrace.backplane.Message;
import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.Position;
import io.millrace.backplane.Subscriber;
import io.millrace.backplane.Subscription;
import io.millrace.backplane.Topic;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What was published to a topic and what its subscribers got, and whether that fits together. {@link #problems} finds:
 * acknowledged messages that a subscriber neither got nor was told of, messages that came twice, or in another order
 * than their publisher's, positions that jump without a gap, and messages that nobody published.
 *
 * <p>Publishers and subscribers may be in other processes: they then write lines, and {@link #published} and {@link
 * Recorder} are told what those say.
 */
public final class DeliveryHistory {
    /** What became of a publication. */
    public enum Outcome {
        /** It has not completed. */
        PENDING,
        /** Acknowledged. */
        ACKNOWLEDGED,
        /** It failed, and was certainly not stored. */
        REFUSED,
        /** It failed, and may have been stored. */
        UNKNOWN
    }

    private record Publication(Outcome outcome, @Nullable Position position) {}

    /** Something that a subscriber got; one of the two is null. */
    private record Event(
            @Nullable String message,
            @Nullable Position position,
            @Nullable Gap gap) {}

    private final Map<String, Publication> publications = new ConcurrentHashMap<>();
    private final List<Recorder> recorders = new CopyOnWriteArrayList<>();

    /** Makes an empty history. */
    public DeliveryHistory() {}

    // ---- Recording ----

    /**
     * Publishes a message and records what becomes of it.
     *
     * @param topic where
     * @param publisher a name without a slash
     * @param number grows with each message of this publisher
     * @return completes with the publication, and never fails
     */
    public CompletableFuture<Outcome> publish(Topic topic, String publisher, int number) {
        String message = publisher + "/" + number;
        publications.put(message, new Publication(Outcome.PENDING, null));
        return topic.publish(message).handle((position, failure) -> {
            Outcome outcome = failure == null ? Outcome.ACKNOWLEDGED : outcome(failure);
            published(message, outcome, position);
            return outcome;
        });
    }

    private static Outcome outcome(Throwable failure) {
        return failure instanceof NotPublishedException refused
                        && refused.reason() != NotPublishedException.Reason.UNKNOWN
                ? Outcome.REFUSED
                : Outcome.UNKNOWN;
    }

    /**
     * Records what became of a message.
     *
     * @param message publisher, slash, number
     * @param outcome what became of it
     * @param position where it was stored, if that is known
     */
    public void published(String message, Outcome outcome, @Nullable Position position) {
        publications.put(message, new Publication(outcome, position));
    }

    /**
     * Returns a new subscriber's record.
     *
     * @param name for messages
     * @return empty
     */
    public Recorder recorder(String name) {
        Recorder recorder = new Recorder(name);
        recorders.add(recorder);
        return recorder;
    }

    /** What one subscriber got. */
    public static final class Recorder implements Subscriber {
        private final String name;
        /** Guarded by itself: a copy for each message would take more time than everything else, when there are many. */
        private final List<Event> events = new ArrayList<>();

        private final Set<String> got = ConcurrentHashMap.newKeySet();
        private final AtomicInteger messages = new AtomicInteger();
        private volatile @Nullable Position start;

        private Recorder(String name) {
            this.name = name;
        }

        /**
         * Records where it began: what was stored behind this, it must get. If this is never called, it began with what it
         * got first.
         *
         * @param position of its subscription, before anything that it must get was published
         */
        public void startedAt(Position position) {
            start = position;
        }

        /**
         * Waits until a subscription has begun, and records where.
         *
         * @param subscription of this subscriber
         * @return the subscription
         */
        public Subscription started(Subscription subscription) {
            Await.until(name + " has begun", () -> subscription.position() != null);
            Position position = subscription.position();
            if (position != null && start == null) {
                start = position;
            }
            return subscription;
        }

        @Override
        public void onMessage(Message message) {
            Position position = message.position();
            if (position != null) {
                onMessage(StandardCharsets.UTF_8.decode(message.data()).toString(), position);
            }
        }

        /**
         * Records a message.
         *
         * @param message publisher, slash, number
         * @param position its position
         */
        public void onMessage(String message, Position position) {
            add(new Event(message, position, null));
            got.add(message);
            messages.incrementAndGet();
        }

        @Override
        public void onGap(Gap gap) {
            add(new Event(null, gap.next(), gap));
        }

        private void add(Event event) {
            synchronized (events) {
                events.add(event);
            }
        }

        private List<Event> events() {
            synchronized (events) {
                return List.copyOf(events);
            }
        }

        /**
         * Returns how many messages it got.
         *
         * @return so far
         */
        public int count() {
            return messages.get();
        }

        /**
         * Returns what it got.
         *
         * @return the messages, in order
         */
        public List<String> messages() {
            List<String> all = new ArrayList<>();
            for (Event event : events()) {
                if (event.message != null) {
                    all.add(event.message);
                }
            }
            return all;
        }

        /**
         * Returns the gaps that it was told of.
         *
         * @return in order
         */
        public List<Gap> gaps() {
            List<Gap> all = new ArrayList<>();
            for (Event event : events()) {
                if (event.gap != null) {
                    all.add(event.gap);
                }
            }
            return all;
        }

        /**
         * Returns whether it got a message.
         *
         * @param message publisher, slash, number
         * @return whether it is among those that came
         */
        public boolean has(String message) {
            return got.contains(message);
        }
    }

    // ---- Judging ----

    /**
     * Returns what is wrong, when all publications have completed and all subscribers have got what they will get.
     *
     * @return a line for each problem; empty if everything fits together
     */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        publications.forEach((message, publication) -> {
            if (publication.outcome == Outcome.PENDING) {
                problems.add(message + " was neither acknowledged nor refused");
            }
        });
        for (Recorder recorder : recorders) {
            new Judgement(recorder, problems).run();
        }
        return problems;
    }

    private final class Judgement {
        private final Recorder recorder;
        private final List<String> problems;
        private final Set<String> seen = new HashSet<>();
        private final Set<String> epochs = new HashSet<>();
        private final Map<String, Integer> latest = new HashMap<>();
        /** What was stored behind this, it must get. */
        private final @Nullable Position start;

        private final List<Gap> gaps;
        private @Nullable Position at;

        Judgement(Recorder recorder, List<String> problems) {
            this.recorder = recorder;
            this.problems = problems;
            this.gaps = recorder.gaps();
            this.start = recorder.start == null ? beforeFirst(recorder) : recorder.start;
            this.at = start;
        }

        private static @Nullable Position beforeFirst(Recorder recorder) {
            for (Event event : recorder.events()) {
                if (event.gap != null) {
                    return event.gap.after();
                } else if (event.position != null) {
                    return new Position(event.position.epoch(), event.position.offset() - 1);
                }
            }
            return null;
        }

        void run() {
            if (at == null) {
                return; // it was given nothing, and has not said where it began
            }
            epochs.add(at.epoch());
            for (Event event : recorder.events()) {
                if (event.position != null) {
                    epochs.add(event.position.epoch());
                    if (event.gap != null) {
                        checkGap(event.gap);
                    } else if (event.message != null) {
                        checkMessage(event.message, event.position);
                    }
                    at = event.position;
                }
            }
            publications.forEach(this::checkReceived);
        }

        private void report(String problem) {
            problems.add(recorder.name + ": " + problem);
        }

        private void checkGap(Gap gap) {
            if (at != null && !at.equals(gap.after())) {
                report("a gap begins at " + gap.after() + ", and not where the subscriber was, at " + at);
            }
        }

        private void checkMessage(String message, Position position) {
            if (at != null && !(at.epoch().equals(position.epoch()) && at.offset() + 1 == position.offset())) {
                report("untold gap: " + message + " at " + position + " follows " + at);
            }
            if (!seen.add(message)) {
                report("duplicate: " + message + " at " + position);
                return;
            }
            Publication publication = publications.get(message);
            if (publication == null || publication.outcome == Outcome.REFUSED) {
                report("invented: " + message + " at " + position + " was "
                        + (publication == null ? "not published" : "refused"));
            }
            int slash = message.indexOf('/');
            int number = Integer.parseInt(message.substring(slash + 1));
            Integer before = latest.put(message.substring(0, slash), number);
            if (before != null && before > number) {
                report("order: " + message + " came after " + message.substring(0, slash + 1) + before);
            }
        }

        private void checkReceived(String message, Publication publication) {
            Position position = publication.position;
            if (publication.outcome == Outcome.ACKNOWLEDGED
                    && position != null
                    && !seen.contains(message)
                    && !isBeforeStart(position)
                    && !isExcused(position)) {
                report("lost: " + message + " at " + position);
            }
        }

        private boolean isBeforeStart(Position position) {
            return start != null && start.epoch().equals(position.epoch()) && position.offset() <= start.offset();
        }

        /** Returns whether it was told of this one: it is in a gap, or in an epoch that one leaps over. */
        private boolean isExcused(Position position) {
            for (Gap gap : gaps) {
                boolean afterBegin = gap.after().epoch().equals(position.epoch())
                        && position.offset() > gap.after().offset();
                boolean beforeEnd = gap.next().epoch().equals(position.epoch())
                        && position.offset() <= gap.next().offset();
                boolean excused = gap.reason() == Gap.Reason.TRIMMED
                        ? afterBegin && beforeEnd
                        : afterBegin || beforeEnd || !epochs.contains(position.epoch());
                if (excused) {
                    return true;
                }
            }
            return false;
        }
    }

    @Override
    public String toString() {
        return publications.size() + " publications, " + recorders.size() + " subscribers";
    }
}
