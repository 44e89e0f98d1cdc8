package io.millrace.testkit;

import io.millrace.backplane.Position;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.millrace.backplane.spi.StoredRecord;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An engine with a bug in it, over a correct one: to see that {@link DeliveryHistory} finds it. */
public final class FaultyEngine implements Engine {
    /** What it does wrong with some of the records. Topics of the backplane itself are spared. */
    public enum Bug {
        /** It acknowledges one that it has not stored. */
        ACKNOWLEDGES_WHAT_IT_DROPS,
        /** It stores one twice, as a retry after a lost acknowledgement would. */
        STORES_TWICE,
        /** It stores one behind the next. */
        SWAPS,
        /** It leaves one out when it reads, and numbers the rest so that nobody notices. */
        HIDES_A_GAP
    }

    private static final int EACH = 17;

    private final Engine correct;
    private final Bug bug;
    private final AtomicInteger appended = new AtomicInteger();
    private @Nullable Envelope held;
    private @Nullable CompletableFuture<Position> heldResult;

    /**
     * Makes one.
     *
     * @param correct does the work
     * @param bug what is wrong
     */
    public FaultyEngine(Engine correct, Bug bug) {
        this.correct = correct;
        this.bug = bug;
    }

    @Override
    public void start() {
        correct.start();
    }

    @Override
    public synchronized CompletableFuture<Position> append(String topic, Envelope record) {
        if (topic.startsWith("$")) {
            return correct.append(topic, record);
        }
        boolean chosen = appended.incrementAndGet() % EACH == 0;
        Envelope late = held;
        if (late != null && heldResult != null) {
            held = null;
            CompletableFuture<Position> result = correct.append(topic, record);
            var ignored = correct.append(topic, late).thenAccept(heldResult::complete);
            return result;
        }
        if (chosen) {
            switch (bug) {
                case ACKNOWLEDGES_WHAT_IT_DROPS -> {
                    return correct.last(topic, 0)
                            .thenApply(page ->
                                    new Position(page.end().epoch(), page.end().offset() + 1));
                }
                case STORES_TWICE -> {
                    var ignored = correct.append(topic, record);
                }
                case SWAPS -> {
                    held = record;
                    CompletableFuture<Position> result = new CompletableFuture<>();
                    heldResult = result;
                    return result;
                }
                case HIDES_A_GAP -> {}
            }
        }
        return correct.append(topic, record);
    }

    @Override
    public CompletableFuture<Page> last(String topic, int count) {
        return correct.last(topic, count);
    }

    @Override
    public CompletableFuture<Page> read(String topic, Position after, int count) {
        return correct.read(topic, after, count);
    }

    @Override
    public void follow(String topic, Position after, LogReader reader) {
        correct.follow(topic, after, bug == Bug.HIDES_A_GAP && !topic.startsWith("$") ? new Hiding(reader) : reader);
    }

    private static final class Hiding implements LogReader {
        private final LogReader reader;
        private int seen;

        Hiding(LogReader reader) {
            this.reader = reader;
        }

        @Override
        public void onRecords(List<StoredRecord> records) {
            for (StoredRecord one : records) {
                seen++;
                if (seen % EACH != 0) {
                    Position real = one.position();
                    Position shown = new Position(real.epoch(), real.offset() - seen / EACH);
                    reader.onRecords(List.of(new StoredRecord(shown, one.bytes())));
                }
            }
        }

        @Override
        public void onBroken() {
            reader.onBroken();
        }
    }

    @Override
    public void unfollow(String topic) {
        correct.unfollow(topic);
    }

    @Override
    public void remove(String topic) {
        correct.remove(topic);
    }

    @Override
    public void close() {
        correct.close();
    }

    @Override
    public String toString() {
        return bug + " over " + correct;
    }
}
