package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.EngineState;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Member;
import io.millrace.backplane.Message;
import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.Position;
import io.millrace.backplane.Presence;
import io.millrace.backplane.Subscriber;
import io.millrace.backplane.Subscription;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every engine of a {@link Backplane} must do. A subclass supplies the engine, and a way to stop and start it.
 *
 * <p>Nodes are backplanes with reactors of their own, in this process.
 */
public abstract class BackplaneContract {
    /** How many messages the history keeps. */
    protected static final int HISTORY = 200;

    private static final Duration SILENCE = Duration.ofMillis(600);

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** For the suites. */
    protected BackplaneContract() {}

    /**
     * Returns where the engine is, which is running and, for this test, empty.
     *
     * @return the same during a test
     */
    protected abstract String url();

    /**
     * Returns a namespace, for an engine that is not emptied before each test.
     *
     * @return the same during a test
     */
    protected String namespace() {
        return "millrace";
    }

    /**
     * Ends the engine, like {@code kill -9}.
     *
     * @throws Exception if that fails
     */
    protected abstract void stopEngine() throws Exception;

    /**
     * Starts it again.
     *
     * @param withData whether it has what it had
     * @throws Exception if that fails
     */
    protected abstract void startEngine(boolean withData) throws Exception;

    /**
     * Ends the connections of all nodes, while the engine goes on.
     *
     * @throws Exception if that fails
     */
    protected abstract void cutConnections() throws Exception;

    /**
     * Makes the engine run and empty.
     *
     * @throws Exception if that fails
     */
    protected void prepareEngine() throws Exception {}

    @BeforeEach
    final void prepare() throws Exception {
        prepareEngine();
    }

    @AfterEach
    final void closeAll() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
        open.clear();
    }

    private Reactors reactors() {
        Reactors reactors =
                Reactors.builder().reactors(1).name("node-" + open.size()).open();
        open.push(reactors);
        return reactors;
    }

    private Backplane.Builder builder() {
        return builder(reactors());
    }

    private Backplane.Builder builder(Reactors reactors) {
        return Backplane.builder(url(), reactors)
                .namespace(namespace())
                .history(HISTORY)
                .timeout(SILENCE);
    }

    private Backplane node() {
        return opened(builder());
    }

    private Backplane opened(Backplane.Builder builder) {
        Backplane backplane = builder.open();
        open.push(backplane);
        awaitState(backplane, EngineState.CONNECTED);
        return backplane;
    }

    private static void awaitState(Backplane backplane, EngineState state) {
        Await.until(backplane + " becomes " + state, () -> backplane.state() == state);
    }

    private static Position ack(CompletableFuture<Position> publication) throws Exception {
        return publication.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private static NotPublishedException.Reason refusal(CompletableFuture<Position> publication) throws Exception {
        try {
            Position position = ack(publication);
            throw new AssertionError("was acknowledged at " + position);
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(NotPublishedException.class);
            return ((NotPublishedException) e.getCause()).reason();
        }
    }

    private static Subscription begun(Subscription subscription) {
        Await.until("it has begun", () -> subscription.position() != null);
        return subscription;
    }

    /** Publishes some numbered messages, and returns when they are acknowledged. */
    private static void publishAll(DeliveryHistory history, Topic topic, String publisher, int from, int to)
            throws Exception {
        List<CompletableFuture<DeliveryHistory.Outcome>> all = new ArrayList<>();
        for (int i = from; i < to; i++) {
            all.add(history.publish(topic, publisher, i));
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
        assertThat(all).allSatisfy(one -> assertThat(one.join()).isEqualTo(DeliveryHistory.Outcome.ACKNOWLEDGED));
    }

    private static String text(Message message) {
        return StandardCharsets.UTF_8.decode(message.data()).toString();
    }

    // ---- bp-1: topics ----

    @Test
    @DisplayName(
            "bp-1, bp-3: what three nodes publish at once reaches the subscribers of all nodes, once, and in each publisher's order")
    void everywhereOnceInOrder() throws Exception {
        int each = 400;
        DeliveryHistory history = new DeliveryHistory();
        List<Backplane> nodes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            nodes.add(opened(builder().history(3 * each))); // nobody can be so slow that something is trimmed
        }
        List<DeliveryHistory.Recorder> recorders = new ArrayList<>();
        for (Backplane node : nodes) {
            DeliveryHistory.Recorder recorder = history.recorder("at " + node.node());
            recorder.started(node.topic("room").subscribe(recorder));
            recorders.add(recorder);
        }
        List<Background<?>> publishers = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            Topic topic = nodes.get(i).topic("room");
            String name = "p" + i;
            publishers.add(Background.run(() -> publishAll(history, topic, name, 0, each)));
        }
        for (Background<?> publisher : publishers) {
            publisher.result();
        }
        recorders.forEach(recorder -> Await.until("all have come", () -> recorder.count() >= each * nodes.size()));

        assertThat(history.problems()).isEmpty();
        assertThat(recorders)
                .allSatisfy(recorder -> assertThat(recorder.messages())
                        .isEqualTo(recorders.getFirst().messages())
                        .hasSize(each * nodes.size()));
        assertThat(recorders).allSatisfy(recorder -> assertThat(recorder.gaps()).isEmpty());
    }

    @Test
    @DisplayName("bp-1: topics have nothing to do with each other, and a message says where it comes from")
    void topicsAreApart() throws Exception {
        Backplane one = node();
        Backplane two = node();
        List<Message> got = new CopyOnWriteArrayList<>();
        begun(two.topic("a {b}: *.>").subscribe(got::add));

        ack(one.topic("another").publish("not this"));
        Position position = ack(one.topic("a {b}: *.>").publish("this"));

        Await.until("it has come", () -> !got.isEmpty());
        assertThat(got).singleElement().satisfies(message -> {
            assertThat(text(message)).isEqualTo("this");
            assertThat(message.node()).isEqualTo(one.node());
            assertThat(message.position()).isEqualTo(position);
        });
    }

    @Test
    @DisplayName("bp-1: a subscriber that begins with the last messages gets exactly those, and then what follows")
    void theLastMessages() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        publishAll(history, one.topic("room"), "p", 0, 20);
        Backplane two = node();
        DeliveryHistory.Recorder recorder = history.recorder("late");
        Subscription subscription = two.topic("room").subscribeFromLast(5, recorder);
        Await.until("five have come", () -> recorder.count() == 5);
        publishAll(history, one.topic("room"), "p", 20, 25);
        Await.until("ten have come", () -> recorder.count() == 10);

        assertThat(recorder.messages())
                .containsExactly("p/15", "p/16", "p/17", "p/18", "p/19", "p/20", "p/21", "p/22", "p/23", "p/24");
        assertThat(recorder.gaps()).isEmpty();
        subscription.close();
    }

    @Test
    @DisplayName("bp-1: a history that is shorter than was asked for is no gap")
    void aShortHistory() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        publishAll(history, one.topic("room"), "p", 0, 3);
        DeliveryHistory.Recorder recorder = history.recorder("late");
        one.topic("room").subscribeFromLast(50, recorder);
        Await.until("all have come", () -> recorder.count() == 3);
        DeliveryHistory.Recorder ofNothing = history.recorder("of nothing");
        begun(one.topic("nobody was here").subscribeFromLast(50, ofNothing));

        assertThat(recorder.gaps()).isEmpty();
        assertThat(ofNothing.gaps()).isEmpty();
    }

    @Test
    @DisplayName(
            "bp-1, bp-3: a subscriber that comes back with its position, as text and on another node, misses nothing and gets nothing twice")
    void comesBack() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder recorder = history.recorder("returning");
        Subscription first = recorder.started(one.topic("room").subscribe(recorder));
        publishAll(history, one.topic("room"), "p", 0, 10);
        Await.until("ten have come", () -> recorder.count() == 10);
        first.close();
        String token = String.valueOf(first.position());
        publishAll(history, one.topic("room"), "p", 10, 100);

        Backplane two = node();
        two.topic("room").subscribeAfter(Position.parse(token), recorder);
        publishAll(history, one.topic("room"), "p", 100, 150);
        Await.until("all have come", () -> recorder.count() == 150);

        assertThat(history.problems()).isEmpty();
        assertThat(recorder.gaps()).isEmpty();
    }

    @Test
    @DisplayName(
            "bp-3: what is no longer in the history is told as a gap that says how much, and nothing else is missing")
    void aTrimmedHistory() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder recorder = history.recorder("returning");
        Subscription first = recorder.started(one.topic("room").subscribe(recorder));
        publishAll(history, one.topic("room"), "p", 0, 10);
        Await.until("ten have come", () -> recorder.count() == 10);
        first.close();
        int all = 10 + 5 * HISTORY;
        publishAll(history, one.topic("room"), "p", 10, all);

        one.topic("room").subscribeAfter(first.position(), recorder);
        Await.until("the last has come", () -> recorder.has("p/" + (all - 1)));

        assertThat(recorder.gaps()).singleElement().satisfies(gap -> {
            assertThat(gap.reason()).isEqualTo(Gap.Reason.TRIMMED);
            assertThat(gap.count()).isEqualTo(all - recorder.count());
        });
        assertThat(recorder.count()).isGreaterThanOrEqualTo(10 + HISTORY);
        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName("bp-3: a position that the engine has never given is a gap, and not an error")
    void aStrangePosition() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        publishAll(history, one.topic("room"), "p", 0, 10);
        for (String strange : List.of("0:7", "a.b:3", "1.zz:9223372036854775807", "99999999999999:1")) {
            DeliveryHistory.Recorder recorder = history.recorder("stranger with " + strange);
            one.topic("room").subscribeAfter(Position.parse(strange), recorder);
            Await.until("a gap was told to " + strange, () -> !recorder.gaps().isEmpty());
            assertThat(recorder.gaps().getFirst().reason()).isEqualTo(Gap.Reason.NEW_EPOCH);
        }
        Await.until(
                "nothing is missing behind the gaps", () -> history.problems().isEmpty());
    }

    @Test
    @DisplayName("bp-3: a position behind the end of its topic is a gap, and what is published next is delivered")
    void aPositionBehindTheEnd() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        publishAll(history, one.topic("room"), "p", 0, 3);
        Position last = ack(one.topic("room").publish("p/3"));
        history.published("p/3", DeliveryHistory.Outcome.ACKNOWLEDGED, last);
        List<DeliveryHistory.Recorder> strangers = new ArrayList<>();
        for (long offset : new long[] {5, 1_000_000, Long.MAX_VALUE}) {
            DeliveryHistory.Recorder recorder = history.recorder("stranger at " + offset);
            one.topic("room").subscribeAfter(new Position(last.epoch(), offset), recorder);
            strangers.add(recorder);
        }
        DeliveryHistory.Recorder atTheEnd = history.recorder("at the end");
        atTheEnd.started(one.topic("room").subscribeAfter(last, atTheEnd));
        strangers.forEach(
                recorder -> Await.until("a gap was told", () -> !recorder.gaps().isEmpty()));
        publishAll(history, one.topic("room"), "p", 4, 9);
        strangers.forEach(recorder -> Await.until("the next ones have come", () -> recorder.count() == 5));
        Await.until("the next ones have come", () -> atTheEnd.count() == 5);

        assertThat(strangers)
                .allSatisfy(recorder -> assertThat(recorder.gaps())
                        .singleElement()
                        .satisfies(gap -> {
                            assertThat(gap.reason()).isEqualTo(Gap.Reason.NEW_EPOCH);
                            assertThat(gap.count()).isEqualTo(-1);
                            assertThat(gap.next()).isEqualTo(last);
                        }));
        assertThat(atTheEnd.gaps()).isEmpty();
        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName(
            "bp-1, bp-4: a subscriber that pauses holds up nobody, and reads what it missed when it resumes; if that was trimmed, it is told")
    void aSlowSubscriber() throws Exception {
        Backplane one = node();
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder slow = history.recorder("slow");
        DeliveryHistory.Recorder fast = history.recorder("fast");
        Subscription held = slow.started(one.topic("room").subscribe(slow));
        fast.started(one.topic("room").subscribe(fast));
        held.pause();
        publishAll(history, one.topic("room"), "p", 0, HISTORY / 2);
        Await.until("the fast one has all", () -> fast.count() == HISTORY / 2);
        assertThat(slow.count()).isZero();

        held.resume();
        Await.until("the slow one has all", () -> slow.count() == HISTORY / 2);
        assertThat(slow.gaps()).isEmpty();

        held.pause();
        int all = HISTORY / 2 + 5 * HISTORY;
        for (int from = HISTORY / 2; from < all; from += HISTORY / 4) {
            int to = from + HISTORY / 4;
            publishAll(history, one.topic("room"), "p", from, to);
            Await.until("the fast one has all", () -> fast.count() == to);
        }
        held.resume();
        Await.until("the slow one has the last", () -> slow.has("p/" + (all - 1)));

        assertThat(slow.gaps())
                .singleElement()
                .satisfies(gap -> assertThat(gap.reason()).isEqualTo(Gap.Reason.TRIMMED));
        assertThat(fast.gaps()).isEmpty();
        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName(
            "bp-1: many subscribers that come in the middle of a stream of messages miss nothing from then on, and get nothing twice")
    void joinsInTheMiddle() throws Exception {
        Backplane one = node();
        Backplane two = node();
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder first = history.recorder("first");
        first.started(two.topic("room").subscribe(first));
        Background<?> publisher = Background.run(() -> publishAll(history, one.topic("room"), "p", 0, 2_000));
        List<DeliveryHistory.Recorder> joined = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            DeliveryHistory.Recorder recorder = history.recorder("joiner " + i);
            begun(
                    i % 2 == 0
                            ? two.topic("room").subscribe(recorder)
                            : two.topic("room").subscribeFromLast(10, recorder));
            joined.add(recorder);
        }
        publisher.result();
        publishAll(history, one.topic("room"), "last", 0, 1);
        Await.until("all are at the end", () -> joined.stream().allMatch(recorder -> recorder.has("last/0")));
        Await.until("the first is at the end", () -> first.has("last/0"));

        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName("bp-1: a subscriber that throws gets the next message, and the others are not affected")
    void aSubscriberThatThrows() throws Exception {
        Backplane one = node();
        AtomicInteger called = new AtomicInteger();
        AtomicInteger beside = new AtomicInteger();
        begun(one.topic("room").subscribe(message -> {
            called.incrementAndGet();
            throw new IllegalStateException("as the test wants it");
        }));
        begun(one.topic("room").subscribe(message -> beside.incrementAndGet()));
        for (int i = 0; i < 3; i++) {
            ack(one.topic("room").publish("x"));
        }
        Await.until("both were called", () -> called.get() == 3 && beside.get() == 3);
    }

    // ---- bp-4: bounds ----

    @Test
    @DisplayName(
            "bp-4: while the engine is away publishing waits within its bounds, is refused beyond them at once, and goes out in order when it is back; that it is away is told once")
    void awayAndBounded() throws Exception {
        List<EngineState> states = new CopyOnWriteArrayList<>();
        Backplane one = opened(builder().maxPending(50, 1 << 20).onState(states::add));
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder recorder = history.recorder("subscriber");
        recorder.started(one.topic("room").subscribe(recorder));
        publishAll(history, one.topic("room"), "p", 0, 5);
        Await.until("they have come", () -> recorder.count() == 5);
        stopEngine();
        awaitState(one, EngineState.AWAY);

        List<CompletableFuture<DeliveryHistory.Outcome>> waiting = new ArrayList<>();
        for (int i = 5; i < 45; i++) {
            waiting.add(history.publish(one.topic("room"), "p", i));
        }
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        List<CompletableFuture<Position>> more = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            more.add(one.topic("other").publish("more"));
        }
        assertThat(refusal(more.getLast())).isEqualTo(NotPublishedException.Reason.FULL);
        assertThat(one.metrics().pendingMessages()).isEqualTo(50);

        startEngine(true);
        awaitState(one, EngineState.CONNECTED);
        for (CompletableFuture<DeliveryHistory.Outcome> one40 : waiting) {
            assertThat(one40.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(DeliveryHistory.Outcome.ACKNOWLEDGED);
        }
        Await.until("they have come", () -> recorder.has("p/44"));
        assertThat(history.problems()).isEmpty();
        assertThat(recorder.count()).isEqualTo(45);
        Await.until("nothing is pending", () -> one.metrics().pendingMessages() == 0);
        Await.until("it was told", () -> states.size() == 3);
        assertThat(states).containsExactly(EngineState.CONNECTED, EngineState.AWAY, EngineState.CONNECTED);
    }

    @Test
    @DisplayName("bp-4: by choice, messages reach the subscribers of their own node while the engine is away")
    void localWhenAway() throws Exception {
        Backplane one = opened(builder().localWhenAway(true));
        List<Message> got = new CopyOnWriteArrayList<>();
        begun(one.topic("room").subscribe(got::add));
        stopEngine();
        awaitState(one, EngineState.AWAY);

        assertThat(refusal(one.topic("room").publish("only here"))).isEqualTo(NotPublishedException.Reason.LOCAL_ONLY);
        Await.until("it has come", () -> !got.isEmpty());
        assertThat(got).singleElement().satisfies(message -> {
            assertThat(text(message)).isEqualTo("only here");
            assertThat(message.position()).isNull();
        });

        startEngine(true);
        awaitState(one, EngineState.CONNECTED);
        ack(one.topic("room").publish("everywhere"));
        Await.until("it has come", () -> got.size() == 2);
        assertThat(text(got.getLast())).isEqualTo("everywhere");
    }

    @Test
    @DisplayName(
            "bp-4: what is published before the engine has answered for the first time waits for it, also where messages are delivered locally while it is away")
    void beforeItIsConnected() throws Exception {
        Backplane one = builder().localWhenAway(true).open();
        open.push(one);
        ack(one.topic("room").publish("early"));
    }

    @Test
    @DisplayName("bp-4: a message that is too long is refused, and one of the greatest length is not")
    void lengths() throws Exception {
        Backplane one = opened(builder().maxMessage(10_000));
        List<Message> got = new CopyOnWriteArrayList<>();
        begun(one.topic("room").subscribe(got::add));
        ByteBuffer longest = ByteBuffer.allocate(10_000);

        assertThat(refusal(one.topic("room").publish(ByteBuffer.allocate(10_001))))
                .isEqualTo(NotPublishedException.Reason.TOO_LONG);
        ack(one.topic("room").publish(longest));
        ack(one.topic("room").publish(""));

        assertThat(longest.hasRemaining()).isFalse();
        Await.until("both have come", () -> got.size() == 2);
        assertThat(got.getFirst().data().remaining()).isEqualTo(10_000);
        assertThat(got.getLast().data().remaining()).isZero();
    }

    @Test
    @DisplayName(
            "bp-4: after close nothing is published or delivered, and what was pending has been acknowledged or fails")
    void afterClose() throws Exception {
        Backplane one = node();
        Backplane two = node();
        AtomicInteger got = new AtomicInteger();
        begun(one.topic("room").subscribe(message -> got.incrementAndGet()));
        List<CompletableFuture<Position>> pending = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            pending.add(one.topic("room").publish("x"));
        }
        one.close();
        one.close();
        assertThat(pending)
                .allSatisfy(publication -> assertThat(ack(publication)).isNotNull());
        int before = got.get();
        assertThat(refusal(one.topic("room").publish("x"))).isEqualTo(NotPublishedException.Reason.CLOSED);

        ack(two.topic("room").publish("y"));
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder recorder = history.recorder("elsewhere");
        two.topic("room").subscribeFromLast(1, recorder);
        Await.until("it came elsewhere", () -> recorder.count() == 1);
        assertThat(got.get()).isBetween(before, 100);
    }

    // ---- bp-3: the engine ends ----

    @Test
    @DisplayName(
            "bp-3: an engine that was restarted with its data is a new epoch, which subscribers are told; what it had is delivered, and nothing twice")
    void restartedWithData() throws Exception {
        restarted(true);
    }

    @Test
    @DisplayName(
            "bp-3: an engine that was restarted without its data is a new epoch, which subscribers are told before the next message")
    void restartedWithoutData() throws Exception {
        restarted(false);
    }

    private void restarted(boolean withData) throws Exception {
        Backplane one = node();
        Backplane two = node();
        DeliveryHistory history = new DeliveryHistory();
        DeliveryHistory.Recorder there = history.recorder("there");
        DeliveryHistory.Recorder returning = history.recorder("returning");
        there.started(two.topic("room").subscribe(there));
        Subscription first = returning.started(one.topic("room").subscribe(returning));
        publishAll(history, one.topic("room"), "p", 0, 10);
        Await.until("all have come", () -> there.count() == 10 && returning.count() == 10);
        first.close();
        Await.until("it has ended", () -> one.metrics().topics() == 1);
        publishAll(history, one.topic("room"), "p", 10, 20);
        Await.until("all have come", () -> there.count() == 20);

        stopEngine();
        awaitState(one, EngineState.AWAY);
        awaitState(two, EngineState.AWAY);
        startEngine(withData);
        awaitState(one, EngineState.CONNECTED);
        awaitState(two, EngineState.CONNECTED);
        publishAll(history, one.topic("room"), "p", 20, 30);
        one.topic("room").subscribeAfter(first.position(), returning);
        publishAll(history, two.topic("room"), "q", 0, 10);
        Await.until("the last has come", () -> there.has("q/9") && returning.has("q/9"));

        assertThat(history.problems()).isEmpty();
        assertThat(there.gaps())
                .isNotEmpty()
                .allSatisfy(gap -> assertThat(gap.reason()).isEqualTo(Gap.Reason.NEW_EPOCH));
        assertThat(returning.gaps()).isNotEmpty();
        if (withData) {
            assertThat(there.count()).isEqualTo(40);
            assertThat(returning.count()).isEqualTo(40);
        }
    }

    // ---- bp-3: faults under load ----

    /** How many messages a publisher has on their way. */
    private static final int ON_THEIR_WAY = 32;

    /** A publisher on one node, until it is told to stop. */
    private static final class Load {
        private final DeliveryHistory history;
        private final Topic topic;
        private final String name;
        private final Semaphore free = new Semaphore(ON_THEIR_WAY);
        private final AtomicInteger published = new AtomicInteger();
        private volatile boolean over;

        Load(DeliveryHistory history, Topic topic, String name) {
            this.history = history;
            this.topic = topic;
            this.name = name;
        }

        void run() throws InterruptedException {
            while (!over) {
                if (free.tryAcquire(100, TimeUnit.MILLISECONDS)) {
                    var ignored = history.publish(topic, name, published.getAndIncrement())
                            .thenRun(free::release);
                }
            }
            if (!free.tryAcquire(ON_THEIR_WAY, Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError(name + " has publications that do not complete");
            }
        }

        void awaitMore(int count) {
            int from = published.get();
            Await.until(name + " publishes", () -> published.get() >= from + count);
        }
    }

    /** What happens to the engine. */
    private enum Fault {
        CUT,
        RESTART_WITH_DATA,
        RESTART_WITHOUT_DATA
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES) // as many faults as one likes
    @DisplayName(
            "bp-3: under load, with connections cut and the engine killed and restarted, with its data and without, nothing that was acknowledged is lost, repeated or out of order without being told")
    void faultsUnderLoad() throws Exception {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        int faults = Integer.getInteger("millrace.faults", Boolean.getBoolean("millrace.soak") ? 100 : 5);
        Random random = new Random(seed);
        DeliveryHistory history = new DeliveryHistory();
        List<Backplane> nodes =
                List.of(opened(builder().history(2_000)), opened(builder().history(2_000)));
        List<Load> loads = new ArrayList<>();
        List<DeliveryHistory.Recorder> recorders = new ArrayList<>();
        for (Backplane node : nodes) {
            DeliveryHistory.Recorder recorder = history.recorder("at " + node.node());
            recorder.started(node.topic("room").subscribe(recorder));
            recorders.add(recorder);
            loads.add(new Load(history, node.topic("room"), "p" + loads.size()));
        }
        List<Background<?>> running = new ArrayList<>();
        loads.forEach(load -> running.add(Background.run(load::run)));
        for (int i = 0; i < faults; i++) {
            loads.forEach(load -> load.awaitMore(random.nextInt(200)));
            switch (Fault.values()[random.nextInt(Fault.values().length)]) {
                case CUT -> cutConnections();
                case RESTART_WITH_DATA -> restart(nodes, true);
                case RESTART_WITHOUT_DATA -> restart(nodes, false);
            }
        }
        loads.forEach(load -> load.awaitMore(ON_THEIR_WAY + 1));
        loads.forEach(load -> load.over = true);
        for (Background<?> one : running) {
            one.result();
        }
        publishAll(history, nodes.getFirst().topic("room"), "end", 0, 1);
        Await.until("the last has come", () -> recorders.stream().allMatch(recorder -> recorder.has("end/0")));

        assertThat(history.problems())
                .as("%d faults, -Dmillrace.seed=%d, %s", faults, seed, history)
                .isEmpty();
        assertThat(recorders)
                .allSatisfy(recorder -> assertThat(recorder.count()).isPositive());
    }

    private void restart(List<Backplane> nodes, boolean withData) throws Exception {
        stopEngine();
        nodes.forEach(node -> awaitState(node, EngineState.AWAY));
        startEngine(withData);
        nodes.forEach(node -> awaitState(node, EngineState.CONNECTED));
    }

    // ---- bp-5: presence ----

    @Test
    @DisplayName("bp-5: who enters and leaves a topic is known on all nodes, also to those that come later")
    void presence() throws Exception {
        Backplane one = node();
        Backplane two = node();
        List<String> seen = new CopyOnWriteArrayList<>();
        begun(two.topic("room").subscribe(new Subscriber() {
            @Override
            public void onMessage(Message message) {}

            @Override
            public void onEntered(Member member) {
                seen.add("+" + member.name());
            }

            @Override
            public void onLeft(Member member) {
                seen.add("-" + member.name());
            }
        }));
        Presence anna = one.topic("room").enter("anna");
        Presence again = one.topic("room").enter("anna");
        Presence ben = two.topic("room").enter("ben");
        one.topic("elsewhere").enter("carl");
        Member annaAtOne = new Member(one.node(), "anna");
        Member benAtTwo = new Member(two.node(), "ben");

        Await.until(
                "both nodes know both",
                () -> one.topic("room").members().equals(List.of(annaAtOne, benAtTwo))
                        && two.topic("room").members().equals(List.of(annaAtOne, benAtTwo)));
        Backplane three = node();
        Await.until("a new node knows them", () -> three.topic("room").members().equals(List.of(annaAtOne, benAtTwo)));
        assertThat(three.nodes()).containsExactlyInAnyOrder(one.node(), two.node(), three.node());

        again.close();
        again.close();
        ben.close();
        anna.close();
        Await.until(
                "nobody is there",
                () -> List.of(one, two, three).stream()
                        .allMatch(node -> node.topic("room").members().isEmpty()));
        Await.until("it was told", () -> seen.size() == 4);
        assertThat(seen).containsExactlyInAnyOrder("+anna", "+ben", "-ben", "-anna");
    }

    @Test
    @DisplayName(
            "bp-5: the members of a node that closes leave at once, those of one that dies within the timeout and a heartbeat")
    void nodesThatEnd() throws Exception {
        Backplane one = node();
        Backplane leaving = node();
        Reactors dying = Reactors.builder().reactors(1).name("dying").open();
        Backplane dead = opened(builder(dying));
        leaving.topic("room").enter("leaving");
        dead.topic("room").enter("dead");
        Await.until("both are known", () -> one.topic("room").members().size() == 2);

        leaving.close();
        Await.until("it has left", () -> one.topic("room").members().size() == 1);
        dying.close(); // no heartbeat any more, and no word of farewell
        long since = System.nanoTime();
        Await.until("it is taken for dead", () -> one.topic("room").members().isEmpty());

        assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(SILENCE.multipliedBy(4));
        assertThat(one.nodes()).containsExactly(one.node());
    }

    @Test
    @DisplayName("bp-5: presence survives an engine that is restarted without its data")
    void presenceAfterARestart() throws Exception {
        Backplane one = node();
        Backplane two = node();
        one.topic("room").enter("anna");
        Await.until("she is known", () -> two.topic("room").members().size() == 1);
        stopEngine();
        awaitState(one, EngineState.AWAY);
        awaitState(two, EngineState.AWAY);
        one.topic("room").enter("ben");
        startEngine(false);
        Await.until("both are known", () -> two.topic("room").members().size() == 2);
    }

    @Test
    @DisplayName("bp-1: invalid names are refused with the reason")
    void names() {
        Backplane one = node();
        assertThatThrownBy(() -> one.topic("$nodes")).hasMessageContaining("$");
        assertThatThrownBy(() -> one.topic("")).hasMessageContaining("1 to 200");
        assertThatThrownBy(() -> one.topic("x".repeat(201))).hasMessageContaining("201");
        assertThatThrownBy(() -> one.topic("half a \ud83d")).hasMessageContaining("surrogate");
        assertThatThrownBy(() -> one.topic("room").enter("")).hasMessageContaining("1 to 200");
        assertThatThrownBy(() -> Backplane.open("carrier-pigeon://coop", reactors()))
                .hasMessageContaining("no engine for carrier-pigeon");
    }
}
