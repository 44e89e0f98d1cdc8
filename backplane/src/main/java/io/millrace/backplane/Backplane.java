package io.millrace.backplane;

import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineListener;
import io.millrace.backplane.spi.EngineProvider;
import io.millrace.backplane.spi.EngineSettings;
import io.millrace.backplane.spi.Envelope;
import io.millrace.engine.EventManager;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What connects the nodes of a service: topics whose messages reach subscribers on all of them. A node is one of these,
 * usually one in each process. The messages go through an engine that is chosen by URL:
 *
 * <table>
 *   <caption>engines</caption>
 *   <tr><th>URL</th><th>engine</th><th>module</th></tr>
 *   <tr><td>{@code memory:} or {@code memory:NAME}</td><td>this process; several nodes in it share one by name</td><td>this one</td></tr>
 *   <tr><td>{@code redis://…}, {@code rediss://…}</td><td>Redis Streams</td><td>{@code millrace-redis}</td></tr>
 *   <tr><td>{@code nats://…}, {@code tls://…}</td><td>NATS JetStream</td><td>{@code millrace-nats}</td></tr>
 * </table>
 *
 * {@snippet :
 * try (Backplane backplane = Backplane.open("redis://localhost", reactors)) {
 *   Topic room = backplane.topic("room");
 *   room.subscribe(message -> System.out.println(UTF_8.decode(message.data())));
 *   room.publish("hello");
 * }
 * }
 *
 * <p><b>What it guarantees.</b> A message whose publication was acknowledged is delivered to every subscriber that is
 * there, and to every one that comes back within the history: once, and in the order of its publisher. If something is
 * missing, or may be, the subscriber is told by a {@link Gap} before the next message. How safely the engine keeps what
 * it has acknowledged is a setting of the engine, and this claims no more.
 *
 * <p><b>It never waits.</b> No method blocks except {@link #close}. Publishing is bounded; a subscriber that does not keep
 * up reads from the history. While the engine is away, that is logged once, messages wait or are {@linkplain
 * Builder#localWhenAway delivered locally}, and everything goes on when it is back.
 *
 * <p><b>Threads.</b> Any thread may call any method. Callbacks run on the manager's threads.
 */
public final class Backplane implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("io.millrace.backplane");
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);
    private static final String MAILBOX = "$node.";
    private static final int LONGEST_NAME = 200;

    private final EventManager manager;
    private final String node;
    private final String place;
    private final int maxPendingMessages;
    private final long maxPendingBytes;
    private final int maxMessage;
    private final boolean localWhenAway;
    private final Consumer<EngineState> onState;
    private final Engine engine;
    private final Membership membership;

    private final ConcurrentHashMap<String, Feed> feeds = new ConcurrentHashMap<>();
    private volatile EngineState state = EngineState.CONNECTING;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Whether it was logged that records of the backplane itself are refused. */
    private final AtomicBoolean toldNotStored = new AtomicBoolean();

    private final AtomicLong sequence = new AtomicLong();
    private final AtomicInteger pendingMessages = new AtomicInteger();
    private final AtomicLong pendingBytes = new AtomicLong();
    /** Completed when nothing is pending after the close. */
    private final CompletableFuture<Void> drained = new CompletableFuture<>();

    private final LongAdder published = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder delivered = new LongAdder();
    private final LongAdder gaps = new LongAdder();

    private Backplane(Builder builder, EngineProvider provider, String scheme) {
        this.manager = builder.manager;
        byte[] random = new byte[8];
        RANDOM.nextBytes(random);
        this.node = HexFormat.of().formatHex(random);
        this.place = withoutSecrets(scheme, builder.url);
        this.maxPendingMessages = builder.maxPendingMessages;
        this.maxPendingBytes = builder.maxPendingBytes;
        this.maxMessage = builder.maxMessage;
        this.localWhenAway = builder.localWhenAway;
        this.onState = builder.onState;
        this.membership = new Membership(this, builder.timeout);
        this.engine = provider.open(
                new EngineSettings(builder.url, manager, node, builder.namespace, builder.history, new Listener()));
    }

    /** Scheme, host and port: whatever stands before the host may be a password. */
    private static String withoutSecrets(String scheme, String url) {
        int slashes = url.indexOf("//");
        if (slashes < 0) {
            return scheme + ":";
        }
        String rest = url.substring(slashes + 2).split("[/?#]", 2)[0];
        return scheme + "://" + rest.substring(rest.lastIndexOf('@') + 1);
    }

    /**
     * Opens a backplane with the defaults: see {@link Builder#open}.
     *
     * @param url the engine
     * @param manager its threads; must outlive it
     * @return connecting
     */
    public static Backplane open(String url, EventManager manager) {
        return builder(url, manager).open();
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @param url the engine
     * @param manager runs callbacks, alarms, and an engine's connections if it can; must outlive the backplane
     * @return a builder
     */
    public static Builder builder(String url, EventManager manager) {
        return new Builder(url, manager);
    }

    private void start() {
        // It asks who is there when it can hear the answers.
        subscribe(Membership.TOPIC, membership, new Subscription.Start.Now(), membership::connected);
        engine.start();
        membership.start();
    }

    // ---- What users call ----

    /**
     * Returns the id of this node, which is new each time.
     *
     * @return letters and digits
     */
    public String node() {
        return node;
    }

    /**
     * Returns the nodes that this one has heard of within the timeout.
     *
     * @return with this one
     */
    public Set<String> nodes() {
        return membership.nodes();
    }

    /**
     * Returns a topic.
     *
     * @param name 1 to 200 characters of any kind, not beginning with {@code $}
     * @return the topic
     * @throws IllegalArgumentException if the name is invalid
     */
    public Topic topic(String name) {
        if (name.startsWith("$")) {
            throw new IllegalArgumentException("names that begin with $ are the backplane's own: " + name);
        }
        checkName("topic", name);
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            // Two such names could be one to the engine, which has bytes.
            throw new IllegalArgumentException("the name of a topic has half a character (an unpaired surrogate)");
        }
        return new Topic(this, name);
    }

    private static String checkName(String what, String name) {
        if (name.isEmpty() || name.length() > LONGEST_NAME) {
            throw new IllegalArgumentException(
                    "the name of a " + what + " has 1 to " + LONGEST_NAME + " characters, not " + name.length());
        }
        return name;
    }

    /**
     * Returns whether the engine can be reached.
     *
     * @return at this moment
     */
    public EngineState state() {
        return state;
    }

    /**
     * Returns its counters.
     *
     * @return the current values
     */
    public BackplaneMetrics metrics() {
        return new BackplaneMetrics(
                state,
                pendingMessages.get(),
                pendingBytes.get(),
                published.sum(),
                refused.sum(),
                delivered.sum(),
                gaps.sum(),
                feeds.size(),
                feeds.values().stream().mapToInt(Feed::behind).sum());
    }

    /**
     * Leaves: its members have left on all nodes, its subscriptions end, and nothing more is published. Waits up to two
     * seconds for what is pending, unless it is called on a thread of the manager; what is pending then fails.
     * Idempotent.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (isConnected()) {
            membership.bye();
            engine.remove(MAILBOX + node);
        }
        if (pendingMessages.get() == 0) {
            drained.complete(null);
        }
        if (isConnected() && !manager.inManager()) {
            drained.completeOnTimeout(null, LAST_WORDS.toNanos(), TimeUnit.NANOSECONDS)
                    .join();
        }
        engine.close();
        feeds.values().forEach(Feed::end);
        feeds.clear();
    }

    // ---- Publishing ----

    CompletableFuture<Position> publish(String topic, ByteBuffer data) {
        int length = data.remaining();
        NotPublishedException refusal = refusal(length);
        if (refusal == null && state == EngineState.AWAY && localWhenAway) {
            giveLocally(topic, data);
            refusal = new NotPublishedException(
                    NotPublishedException.Reason.LOCAL_ONLY,
                    place + " is away; the message was delivered on this node only");
        }
        if (refusal != null) {
            refused.increment();
            return CompletableFuture.failedFuture(refusal);
        }
        CompletableFuture<Position> result = new CompletableFuture<>();
        var ignored = engine.append(topic, Envelope.of(node, sequence.incrementAndGet(), data))
                .whenComplete((position, failure) -> {
                    release(length);
                    (failure == null ? published : refused).increment();
                    complete(result, position, failure);
                });
        return result;
    }

    /** Takes room for a message; returns why it cannot. */
    private @Nullable NotPublishedException refusal(int length) {
        if (length > maxMessage) {
            return new NotPublishedException(
                    NotPublishedException.Reason.TOO_LONG,
                    "a message has at most " + maxMessage + " bytes (maxMessage), not " + length);
        }
        int messages = pendingMessages.incrementAndGet();
        if (pendingBytes.addAndGet(length) > maxPendingBytes || messages > maxPendingMessages) {
            release(length);
            return new NotPublishedException(
                    NotPublishedException.Reason.FULL,
                    "too much waits for its acknowledgement by " + place
                            + " (maxPending); publish less, or wait for some of it");
        }
        // Not earlier: either close() waits for this one, or it is turned away here.
        if (closed.get()) {
            release(length);
            return new NotPublishedException(NotPublishedException.Reason.CLOSED, "the backplane is closed");
        }
        return null;
    }

    private void release(int length) {
        pendingBytes.addAndGet(-length);
        if (pendingMessages.decrementAndGet() == 0 && closed.get()) {
            drained.complete(null);
        }
    }

    private void giveLocally(String topic, ByteBuffer data) {
        int length = data.remaining();
        Feed feed = feeds.get(topic);
        ByteBuffer copy = ByteBuffer.allocate(length).put(data).flip();
        if (feed != null) {
            feed.giveLocally(node, copy);
        }
        release(length);
    }

    /** On the manager's threads, so that dependent stages do not hold up the engine's. */
    private void complete(
            CompletableFuture<Position> result, @Nullable Position position, @Nullable Throwable failure) {
        Runnable completion = () -> {
            if (failure == null) {
                result.complete(position);
            } else {
                Throwable cause = failure instanceof CompletionException wrapped && wrapped.getCause() != null
                        ? wrapped.getCause()
                        : failure;
                result.completeExceptionally(cause);
            }
        };
        try {
            manager.execute(completion);
        } catch (RejectedExecutionException e) {
            completion.run();
        }
    }

    /** Publishes a record of the backplane itself, unless the engine is away: see {@link Membership#connected}. */
    void append(String topic, ByteBuffer data) {
        if (isConnected()) {
            int length = data.remaining();
            pendingMessages.incrementAndGet();
            pendingBytes.addAndGet(length);
            var ignored = engine.append(topic, Envelope.of(node, sequence.incrementAndGet(), data))
                    .whenComplete((position, failure) -> {
                        release(length);
                        if (failure == null) {
                            toldNotStored.set(false);
                        } else if (isConnected() && !closed.get() && toldNotStored.compareAndSet(false, true)) {
                            LOGGER.log(
                                    Level.WARNING,
                                    "backplane " + place + " does not store records of " + topic
                                            + ", without which the nodes do not hear of each other; this is told once, and tried again",
                                    failure);
                        }
                    });
        }
    }

    // ---- Topics ----

    Subscription subscribe(String topic, Subscriber subscriber, Subscription.Start start, @Nullable Runnable onLive) {
        Objects.requireNonNull(subscriber, "subscriber");
        Subscription[] made = new Subscription[1];
        feeds.compute(topic, (same, present) -> {
            Feed feed = present == null ? new Feed(this, topic) : present;
            made[0] = new Subscription(feed, subscriber, start, onLive);
            if (!closed.get()) {
                feed.add(made[0]);
                return feed;
            }
            return present;
        });
        return made[0];
    }

    void releaseFeed(String topic, Feed feed) {
        feeds.computeIfPresent(topic, (same, present) -> present == feed && feed.release() ? null : present);
    }

    /** Runs something in order with the messages of a topic that has a subscription. */
    void execute(String topic, Runnable task) {
        Feed feed = feeds.get(topic);
        if (feed != null) {
            feed.execute(task);
        }
    }

    Presence enter(String topic, String member) {
        membership.enter(topic, checkName("member", member));
        return new Presence(membership, topic, member);
    }

    List<Member> members(String topic) {
        return membership.members(topic);
    }

    void tellPresence(String topic, Member member, boolean entered) {
        Feed feed = feeds.get(topic);
        if (feed != null) {
            feed.tellPresence(member, entered);
        }
    }

    // ---- Mailboxes: one topic for each node ----

    Subscription readMailbox(Subscriber subscriber) {
        return subscribe(MAILBOX + node, subscriber, new Subscription.Start.Now(), null);
    }

    CompletableFuture<Position> sendToMailbox(String to, ByteBuffer data) {
        if (!membership.nodes().contains(to)) {
            refused.increment();
            return CompletableFuture.failedFuture(new NotPublishedException(
                    NotPublishedException.Reason.NO_SUCH_NODE, "no node " + to + " was heard of lately"));
        }
        return publish(MAILBOX + to, data);
    }

    /** Of a node that is dead; whoever notices. */
    void removeMailbox(String dead) {
        engine.remove(MAILBOX + dead);
    }

    // ---- For the other classes ----

    EventManager manager() {
        return manager;
    }

    Engine engine() {
        return engine;
    }

    boolean isConnected() {
        return state == EngineState.CONNECTED;
    }

    long now() {
        return manager.clock().nanoTime();
    }

    void later(Duration delay, Runnable task) {
        try {
            manager.schedule(delay, fired -> {
                if (fired && !closed.get()) {
                    task.run();
                }
            });
        } catch (RejectedExecutionException e) {
            LOGGER.log(Level.DEBUG, "the manager of " + this + " has ended", e);
        }
    }

    /** Until it is closed. */
    void every(Duration period, Runnable task) {
        later(period, () -> {
            task.run();
            every(period, task);
        });
    }

    void countDelivered() {
        delivered.increment();
    }

    void countGap() {
        gaps.increment();
    }

    void reportFailure(Object what, Throwable failure) {
        LOGGER.log(Level.WARNING, "the subscriber of " + what + " threw; the next message follows", failure);
    }

    void reportForeign(String topic, Position position, IllegalArgumentException reason) {
        LOGGER.log(
                Level.WARNING, "topic " + topic + " has a foreign record at " + position + ": " + reason.getMessage());
    }

    void reportUnreadable(String topic, Throwable failure) {
        LOGGER.log(
                Level.WARNING,
                "topic " + topic + " cannot be read from backplane " + place + ": " + why(failure)
                        + "; its subscribers wait, and reading is tried again");
    }

    /** All that is known: the outer exceptions of clients say where, and the inner ones what. */
    private static String why(Throwable failure) {
        StringBuilder text = new StringBuilder();
        @Nullable Throwable at = failure;
        for (int depth = 0; at != null && depth < 8; depth++, at = at.getCause()) {
            String message = at.getMessage();
            String part = message == null ? at.getClass().getSimpleName() : message;
            if (!(at instanceof CompletionException) && text.indexOf(part) < 0) {
                text.append(text.isEmpty() ? "" : ": ").append(part);
            }
        }
        return text.toString();
    }

    /** What the engine calls. */
    private final class Listener implements EngineListener {
        /** Whether it was logged that it is away. */
        private boolean told;

        @Override
        public void onConnected() {
            state = EngineState.CONNECTED;
            if (told) {
                told = false;
                LOGGER.log(Level.INFO, "backplane " + place + " is back");
            }
            feeds.values().forEach(Feed::connected);
            membership.connected();
            tell(EngineState.CONNECTED);
        }

        @Override
        public void onAway(Throwable reason) {
            state = EngineState.AWAY;
            if (!closed.get()) {
                told = true;
                LOGGER.log(
                        Level.WARNING,
                        "backplane " + place + " is away: " + why(reason) + "; "
                                + (localWhenAway ? "messages reach this node only" : "messages wait")
                                + ", and connecting is tried again");
                tell(EngineState.AWAY);
            }
        }

        private void tell(EngineState now) {
            try {
                manager.execute(() -> onState.accept(now));
            } catch (RejectedExecutionException e) {
                LOGGER.log(Level.DEBUG, "the manager of " + place + " has ended", e);
            }
        }
    }

    @Override
    public String toString() {
        return "backplane " + place + ", node " + node + ", " + state.name().toLowerCase(Locale.ROOT);
    }

    /** Settings of a backplane. */
    public static final class Builder {
        private final String url;
        private final EventManager manager;
        private String namespace = "millrace";
        private int history = 1_000;
        private int maxPendingMessages = 10_000;
        private long maxPendingBytes = 16 << 20;
        private int maxMessage = 256 << 10;
        private Duration timeout = Duration.ofSeconds(8);
        private boolean localWhenAway;
        private Consumer<EngineState> onState = state -> {};

        private Builder(String url, EventManager manager) {
            this.url = Objects.requireNonNull(url, "url");
            this.manager = Objects.requireNonNull(manager, "manager");
        }

        /**
         * Sets what the names of everything stored begin with. Services that share an engine have different ones.
         *
         * @param prefix {@code millrace} by default; letters, digits, {@code -} and {@code _}
         * @return this
         */
        public Builder namespace(String prefix) {
            if (!prefix.matches("[A-Za-z0-9_-]{1,64}")) {
                throw new IllegalArgumentException("a namespace has 1 to 64 letters, digits, - and _, not " + prefix);
            }
            this.namespace = prefix;
            return this;
        }

        /**
         * Sets how many messages of each topic are kept for those who come back. It is also the queue of those who are
         * slow.
         *
         * @param messages at least that many are kept; 1,000 by default
         * @return this
         */
        public Builder history(int messages) {
            this.history = positive("the history", messages);
            return this;
        }

        /**
         * Limits what this node has published and the engine has not acknowledged. More is refused as {@link
         * NotPublishedException.Reason#FULL}.
         *
         * @param messages 10,000 by default
         * @param bytes 16 MiB by default
         * @return this
         */
        public Builder maxPending(int messages, long bytes) {
            this.maxPendingMessages = positive("the number of pending messages", messages);
            if (bytes < 1) {
                throw new IllegalArgumentException("the number of pending bytes must be positive, not " + bytes);
            }
            this.maxPendingBytes = bytes;
            return this;
        }

        /**
         * Limits the length of a message.
         *
         * @param bytes 256 KiB by default
         * @return this
         */
        public Builder maxMessage(int bytes) {
            this.maxMessage = positive("the length of a message", bytes);
            return this;
        }

        /**
         * Sets after which time of silence a node is taken for dead: then its members have left. It is noticed at the next
         * heartbeat, which is a quarter of this.
         *
         * @param silence 8 seconds by default; at least 100 ms
         * @return this
         */
        public Builder timeout(Duration silence) {
            if (silence.compareTo(Duration.ofMillis(100)) < 0) {
                throw new IllegalArgumentException("the timeout is at least 100 ms, not " + silence);
            }
            this.timeout = silence;
            return this;
        }

        /**
         * Sets what becomes of messages while the engine is away. By default they wait, and reach everybody when it is
         * back. If this is true, they reach the subscribers of this node at once and nobody else ever; their publications
         * fail with {@link NotPublishedException.Reason#LOCAL_ONLY}. What was on its way when the engine was lost, or was
         * published before it was known whether there is one, waits in any case, and so may come after them.
         *
         * @param local false by default
         * @return this
         */
        public Builder localWhenAway(boolean local) {
            this.localWhenAway = local;
            return this;
        }

        /**
         * Sets what to call when the engine is connected or lost. Both are logged, too.
         *
         * @param listener called on a thread of the manager
         * @return this
         */
        public Builder onState(Consumer<EngineState> listener) {
            this.onState = Objects.requireNonNull(listener, "listener");
            return this;
        }

        private static int positive(String what, int value) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " must be positive, not " + value);
            }
            return value;
        }

        /**
         * Opens the backplane without waiting for the engine: what is published before it is connected waits, like
         * later.
         *
         * @return connecting, in the background and again and again; the caller must close it
         * @throws IllegalArgumentException if no engine on the class path or module path understands the URL
         */
        public Backplane open() {
            String scheme = url.substring(0, Math.max(0, url.indexOf(':'))).toLowerCase(Locale.ROOT);
            for (EngineProvider provider : ServiceLoader.load(EngineProvider.class)) {
                if (provider.schemes().contains(scheme)) {
                    Backplane backplane = new Backplane(this, provider, scheme);
                    backplane.start();
                    return backplane;
                }
            }
            throw new IllegalArgumentException(
                    "no engine for " + scheme
                            + ": URLs; memory: is always there, redis: needs millrace-redis and nats: millrace-nats on the class path or module path");
        }
    }
}
