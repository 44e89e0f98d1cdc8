package io.millrace.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.Priority;
import io.millrace.engine.StallReport;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.pool.ComputePoolMetrics;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.engine.pool.ObjectPoolMetrics;
import io.millrace.server.Monitored;
import io.millrace.server.ServerMetrics;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Binds the counters of loops, servers, clients, pools and sets to Micrometer. The names follow OpenTelemetry's
 * convention for event loops, {@code nodejs.eventloop.*}.
 *
 * {@snippet :
 * MillraceMetrics metrics = MillraceMetrics.builder().add("shop", server).add("workers", pool).build();
 * metrics.bindTo(registry);
 * // ... and when the program ends:
 * metrics.close();
 * }
 *
 * <p><b>What it costs.</b> Counters and gauges are read when the registry asks. The two histograms of each loop, {@code
 * millrace.eventloop.delay} and {@code millrace.eventloop.turn}, are passed on once a second by a thread of this class:
 * Micrometer has no way to be given a histogram. Each value is recorded with the upper bound of its bucket: never too
 * small, and at most an eighth too large. They begin when they are bound. Loops are not disturbed.
 *
 * <p><b>Threads.</b> Any thread may call.
 */
public final class MillraceMetrics implements MeterBinder, AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** What a delay or a turn is compared with by those who look at it. */
    private static final Duration[] OBJECTIVES = {
        Duration.ofNanos(100_000),
        Duration.ofMillis(1),
        Duration.ofMillis(10),
        Duration.ofMillis(100),
        Duration.ofSeconds(1),
        Duration.ofSeconds(10)
    };

    private final Map<String, Monitored> servers;
    private final Set<LoopView> loops;
    private final Map<String, ComputePool> pools;
    private final Map<String, ObjectPool<?>> objects;
    private final Map<String, IntSupplier> sets;
    private final List<HistogramFeed> feeds = new CopyOnWriteArrayList<>();
    private final List<Utilisation> utilisations = new CopyOnWriteArrayList<>();
    /** Guarded by this; by identity. */
    private final Set<MeterRegistry> bound = Collections.newSetFromMap(new IdentityHashMap<>());

    private volatile boolean closed;
    /** Guarded by this; null until something is bound. */
    private @Nullable Thread feeder;

    private MillraceMetrics(Builder builder) {
        this.servers = new LinkedHashMap<>(builder.servers);
        this.loops = new LinkedHashSet<>(builder.loops);
        this.pools = new LinkedHashMap<>(builder.pools);
        this.objects = new LinkedHashMap<>(builder.objects);
        this.sets = new LinkedHashMap<>(builder.sets);
    }

    /**
     * Returns a builder.
     *
     * @return a builder with nothing to bind
     */
    public static Builder builder() {
        return new Builder();
    }

    /** The share of the time since the last refresh in which a loop worked. */
    private static final class Utilisation {
        private final LoopView loop;
        private long at = System.nanoTime();
        private long busy;
        private volatile double share;

        Utilisation(LoopView loop) {
            this.loop = loop;
            this.busy = busyNow();
        }

        /** A turn that has not ended counts, too; otherwise a blocked loop would look idle. */
        private long busyNow() {
            return loop.metrics().busyNanos() + loop.turnLasts().toNanos();
        }

        void refresh() {
            long now = System.nanoTime();
            long busyNow = busyNow();
            if (now - at > 0) {
                share = Math.clamp((double) (busyNow - busy) / (now - at), 0, 1);
            }
            at = now;
            busy = busyNow;
        }

        double share() {
            return share;
        }
    }

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        if (closed) {
            throw new IllegalStateException("cannot bind to " + registry + ": these metrics are closed");
        }
        if (!bound.add(registry)) {
            return; // it has the same meters still, and their histograms would be fed twice
        }
        // A name is what tells loops apart in a registry: of two meters with the same tags, it would drop the second.
        Set<String> taken = new HashSet<>();
        for (LoopView loop : loops) {
            String name = loop.name();
            for (int i = 2; !taken.add(name); i++) {
                name = loop.name() + " (" + i + ")";
            }
            bindLoop(registry, loop, name);
        }
        servers.forEach((name, server) -> bindServer(registry, name, server.metrics()));
        pools.forEach((name, pool) -> bindPool(registry, name, pool));
        objects.forEach((name, pool) -> bindObjects(registry, name, pool));
        sets.forEach((name, size) -> Gauge.builder("millrace.set.size", size, IntSupplier::getAsInt)
                .tags("set", name)
                .description("Futures or streams that the set holds")
                .strongReference(true)
                .register(registry));
        if (feeder == null && !loops.isEmpty()) {
            feeder = Thread.ofPlatform().daemon().name("millrace-micrometer").start(this::feedOn);
        }
    }

    // ---- Loops ----

    private void bindLoop(MeterRegistry registry, LoopView loop, String name) {
        Tags tags = Tags.of("loop", name, "backend", loop.backend());
        Metrics metrics = loop.metrics();
        Utilisation utilisation = new Utilisation(loop);
        utilisations.add(utilisation);
        gauge(
                registry,
                "utilization",
                "1",
                "Share of the time in which the loop worked",
                tags,
                utilisation,
                Utilisation::share);
        counter(registry, "time", "seconds", "Time in which the loop worked", tags, metrics, m -> m.busyNanos() / 1e9);
        gauge(
                registry,
                "in.turn",
                "seconds",
                "How long the present turn has lasted",
                tags,
                loop,
                view -> view.turnLasts().toNanos() / 1e9);
        counter(registry, "turns", null, "Turns of the loop", tags, metrics, Metrics::turns);
        counter(registry, "waits", null, "Calls that asked the kernel for events", tags, metrics, Metrics::waits);
        counter(registry, "wakeups", null, "Wake-ups by other threads", tags, metrics, Metrics::wakeUps);
        counter(registry, "events", null, "Events of sources", tags, metrics, Metrics::events);
        counter(registry, "items", null, "Handlers, alarms and tasks that ran", tags, metrics, Metrics::delivered);
        counter(registry, "failures", null, "Callbacks that threw", tags, metrics, Metrics::failures);
        counter(registry, "alarms.due", null, "Alarms that came due", tags, metrics, Metrics::alarmsDue);
        gauge(registry, "alarms.pending", null, "Alarms that are pending", tags, metrics, Metrics::alarmsPending);
        gauge(registry, "sources", null, "Sources that are registered", tags, metrics, Metrics::sources);
        for (Priority priority : Priority.values()) {
            gauge(
                    registry,
                    "queue.depth",
                    null,
                    "Tasks that wait to run",
                    tags.and("priority", lower(priority)),
                    metrics,
                    m -> m.queueDepth(priority));
        }
        stalls(registry, tags, loop, "blocked", StallReport::blockedCount);
        stalls(registry, tags, loop, "busy", report -> report.busy().count());
        stalls(registry, tags, loop, "starved", report -> report.starved().count());
        stalls(registry, tags, loop, "paused", report -> report.paused().count());
        feeds.add(new HistogramFeed(metrics::loopLag, timer(registry, "delay", "How late alarms came due", tags)));
        feeds.add(new HistogramFeed(metrics::turnTime, timer(registry, "turn", "How long turns took", tags)));
    }

    private static Timer timer(MeterRegistry registry, String name, String description, Tags tags) {
        return Timer.builder("millrace.eventloop." + name)
                .tags(tags)
                .description(description)
                .serviceLevelObjectives(OBJECTIVES)
                .publishPercentileHistogram()
                .register(registry);
    }

    private static void stalls(
            MeterRegistry registry, Tags tags, LoopView loop, String kind, ToDoubleFunction<StallReport> count) {
        counter(
                registry,
                "stalls",
                null,
                "What held up the loop, as its watchdog saw it",
                tags.and("kind", kind),
                loop,
                view -> count.applyAsDouble(view.stalls()));
    }

    private static <T> void counter(
            MeterRegistry registry,
            String name,
            @Nullable String unit,
            String description,
            Tags tags,
            T of,
            ToDoubleFunction<T> value) {
        register(registry, "millrace.eventloop." + name, unit, description, tags, of, value);
    }

    private static <T> void gauge(
            MeterRegistry registry,
            String name,
            @Nullable String unit,
            String description,
            Tags tags,
            T of,
            ToDoubleFunction<T> value) {
        registerGauge(registry, "millrace.eventloop." + name, unit, description, tags, of, value);
    }

    private static <T> void register(
            MeterRegistry registry,
            String name,
            @Nullable String unit,
            String description,
            Tags tags,
            T of,
            ToDoubleFunction<T> value) {
        // The function holds the object: Micrometer refers to it weakly, and nobody else may refer to a view.
        FunctionCounter.builder(name, of, each -> value.applyAsDouble(of))
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .register(registry);
    }

    private static <T> void registerGauge(
            MeterRegistry registry,
            String name,
            @Nullable String unit,
            String description,
            Tags tags,
            T of,
            ToDoubleFunction<T> value) {
        Gauge.builder(name, of, value)
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    // ---- Servers and clients ----

    private static void bindServer(MeterRegistry registry, String name, ServerMetrics metrics) {
        Tags tags = Tags.of("server", name);
        connections(registry, tags, "open", metrics, ServerMetrics::connections);
        connections(registry, tags, "opening", metrics, ServerMetrics::connectionsOpening);
        connections(registry, tags, "ending", metrics, ServerMetrics::connectionsEnding);
        registerGauge(
                registry,
                "millrace.connections.full",
                null,
                "Connections above their high-water mark",
                tags,
                metrics,
                ServerMetrics::connectionsFull);
        register(
                registry,
                "millrace.connections.opened",
                null,
                "Connections that were opened",
                tags,
                metrics,
                ServerMetrics::connectionsOpened);
        register(
                registry,
                "millrace.connections.refused",
                null,
                "Connections that were turned away",
                tags,
                metrics,
                ServerMetrics::connectionsTurnedAway);
        register(
                registry,
                "millrace.connections.failed",
                null,
                "Connections that did not end in order",
                tags,
                metrics,
                ServerMetrics::connectionsFailed);
        register(
                registry,
                "millrace.accept.failures",
                null,
                "Accepts that failed",
                tags,
                metrics,
                ServerMetrics::acceptFailures);
        register(
                registry,
                "millrace.network.io",
                "bytes",
                "Bytes of connections",
                tags.and("direction", "receive"),
                metrics,
                ServerMetrics::bytesReceived);
        register(
                registry,
                "millrace.network.io",
                "bytes",
                "Bytes of connections",
                tags.and("direction", "transmit"),
                metrics,
                ServerMetrics::bytesSent);
        registerGauge(
                registry,
                "millrace.output.queued",
                "bytes",
                "Bytes that wait to be sent",
                tags,
                metrics,
                ServerMetrics::bytesQueued);
        register(
                registry,
                "millrace.tls.handshakes",
                null,
                "TLS handshakes",
                tags.and("outcome", "completed"),
                metrics,
                ServerMetrics::handshakes);
        register(
                registry,
                "millrace.tls.handshakes",
                null,
                "TLS handshakes",
                tags.and("outcome", "failed"),
                metrics,
                ServerMetrics::handshakesFailed);
    }

    private static void connections(
            MeterRegistry registry,
            Tags tags,
            String state,
            ServerMetrics metrics,
            ToDoubleFunction<ServerMetrics> value) {
        registerGauge(
                registry,
                "millrace.connections",
                null,
                "Connections, by how far they are",
                tags.and("state", state),
                metrics,
                value);
    }

    // ---- Pools ----

    private static void bindPool(MeterRegistry registry, String name, ComputePool pool) {
        Tags tags = Tags.of("pool", name);
        Supplier<ComputePoolMetrics> metrics = pool::metrics;
        tasks(registry, tags, "completed", metrics, ComputePoolMetrics::completed);
        tasks(registry, tags, "failed", metrics, ComputePoolMetrics::failed);
        tasks(registry, tags, "cancelled", metrics, ComputePoolMetrics::cancelled);
        tasks(registry, tags, "rejected", metrics, ComputePoolMetrics::rejected);
        register(
                registry,
                "millrace.pool.submitted",
                null,
                "Tasks that were submitted",
                tags,
                metrics,
                m -> m.get().submitted());
        register(
                registry,
                "millrace.pool.time",
                "seconds",
                "Time that tasks took",
                tags,
                metrics,
                m -> m.get().executionTime().toNanos() / 1e9);
        registerGauge(
                registry,
                "millrace.pool.active",
                null,
                "Tasks that are running",
                tags,
                metrics,
                m -> m.get().active());
        for (Priority priority : Priority.values()) {
            registerGauge(
                    registry,
                    "millrace.pool.queue.depth",
                    null,
                    "Tasks that wait for a thread",
                    tags.and("priority", lower(priority)),
                    metrics,
                    m -> m.get().depth(priority));
        }
    }

    private static void tasks(
            MeterRegistry registry,
            Tags tags,
            String outcome,
            Supplier<ComputePoolMetrics> metrics,
            ToDoubleFunction<ComputePoolMetrics> value) {
        register(
                registry,
                "millrace.pool.tasks",
                null,
                "Tasks, by how they ended",
                tags.and("outcome", outcome),
                metrics,
                m -> value.applyAsDouble(m.get()));
    }

    private static void bindObjects(MeterRegistry registry, String name, ObjectPool<?> pool) {
        Tags tags = Tags.of("pool", name);
        Supplier<ObjectPoolMetrics> metrics = pool::metrics;
        register(
                registry,
                "millrace.objects.created",
                null,
                "Objects that were created",
                tags,
                metrics,
                m -> m.get().created());
        register(
                registry,
                "millrace.objects.acquired",
                null,
                "Objects that were lent",
                tags,
                metrics,
                m -> m.get().acquired());
        registerGauge(
                registry,
                "millrace.objects.idle",
                null,
                "Objects that wait to be lent",
                tags,
                metrics,
                m -> m.get().idle());
        registerGauge(
                registry,
                "millrace.objects.used",
                null,
                "Objects that are lent",
                tags,
                metrics,
                m -> m.get().inUse());
    }

    private static String lower(Priority priority) {
        return priority.name().toLowerCase(Locale.ROOT);
    }

    // ---- Histograms ----

    private void feedOn() {
        while (!closed) {
            refresh();
            LockSupport.parkNanos(this, PERIOD.toNanos());
        }
    }

    /**
     * Passes on to the histograms what has happened since the last time, and takes the utilisation of the time since
     * then. This happens once a second by itself; call it where values must be of this moment.
     */
    public synchronized void refresh() {
        feeds.forEach(HistogramFeed::feed);
        utilisations.forEach(Utilisation::refresh);
    }

    /** Stops passing histograms on. The meters stay in their registries, and counters and gauges are still read. */
    @Override
    public synchronized void close() {
        closed = true;
        if (feeder != null) {
            LockSupport.unpark(feeder);
        }
    }

    /** Collects what to bind. */
    public static final class Builder {
        private final Map<String, Monitored> servers = new LinkedHashMap<>();
        private final Set<LoopView> loops = new LinkedHashSet<>();
        private final Map<String, ComputePool> pools = new LinkedHashMap<>();
        private final Map<String, ObjectPool<?>> objects = new LinkedHashMap<>();
        private final Map<String, IntSupplier> sets = new LinkedHashMap<>();

        private Builder() {}

        private static <T> void put(Map<String, T> map, String name, T value) {
            Objects.requireNonNull(value, "value");
            if (map.putIfAbsent(Objects.requireNonNull(name, "name"), value) != null) {
                throw new IllegalArgumentException("cannot add two under the name " + name + "; choose another");
            }
        }

        /**
         * Adds a server or client, and its loops. Loops that several of them share are bound once.
         *
         * @param name the value of the tag {@code server}
         * @param server any server or client
         * @return this
         */
        public Builder add(String name, Monitored server) {
            put(servers, name, server);
            server.metrics().engine().ifPresent(this::add);
            return this;
        }

        /**
         * Adds the loops of an event manager or event loop.
         *
         * @param engine what its {@code metrics()} returned
         * @return this
         */
        public Builder add(Metrics engine) {
            loops.addAll(engine.loops());
            return this;
        }

        /**
         * Adds a pool of threads.
         *
         * @param name the value of the tag {@code pool}
         * @param pool any pool
         * @return this
         */
        public Builder add(String name, ComputePool pool) {
            put(pools, name, pool);
            return this;
        }

        /**
         * Adds a pool of objects.
         *
         * @param name the value of the tag {@code pool}
         * @param pool any pool
         * @return this
         */
        public Builder add(String name, ObjectPool<?> pool) {
            put(objects, name, pool);
            return this;
        }

        /**
         * Adds a set of futures or streams.
         *
         * @param name the value of the tag {@code set}
         * @param size returns how many it holds, such as {@code set::size}; called by the registry's threads
         * @return this
         */
        public Builder addSet(String name, IntSupplier size) {
            put(sets, name, size);
            return this;
        }

        /**
         * Returns what to bind with {@link MillraceMetrics#bindTo}.
         *
         * @return to be closed when it is no longer needed
         */
        public MillraceMetrics build() {
            return new MillraceMetrics(this);
        }
    }
}
