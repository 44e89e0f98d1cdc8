package io.millrace.console;

import io.millrace.engine.Histogram;
import io.millrace.engine.LoopView;
import io.millrace.engine.LoopView.Activity;
import io.millrace.engine.Metrics;
import io.millrace.engine.Priority;
import io.millrace.engine.StallReport;
import io.millrace.engine.pool.ComputePoolMetrics;
import io.millrace.engine.pool.ObjectPoolMetrics;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionSnapshot;
import io.millrace.server.Monitored;
import io.millrace.server.ServerMetrics;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.TlsSession;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What each view of the page shows, as JSON. Everything is read from the observed objects when it is asked for. Counters
 * are passed on as they are: the page makes rates out of two answers, so that several viewers do not disturb each other.
 *
 * <p>Any thread.
 */
final class Views {
    /** How long a turn may take before its loop is not healthy. */
    private static final Duration HELD = Duration.ofSeconds(5);

    private static final int PAGE = 200;
    private static final int ALARMS = 10;
    private static final int SOURCES = 500;

    private final Observed observed;

    Views(Observed observed) {
        this.observed = observed;
    }

    // ---- Overview ----

    Json overview() {
        return new Json().object(json -> {
            json.put("nanos", System.nanoTime());
            json.key("servers").array(list -> observed.servers.forEach((name, server) -> server(list, name, server)));
            json.key("loops").array(list -> observed.loops().forEach(loop -> loop(list, loop)));
        });
    }

    private static void server(Json list, String name, Monitored server) {
        ServerMetrics metrics = server.metrics();
        list.object(json -> {
            json.put("name", name);
            json.put("what", server.toString());
            json.put("isOpen", server.isOpen());
            json.put("backend", server instanceof TcpServer tcp ? tcp.backend() : null);
            json.put("open", metrics.connections());
            json.put("opening", metrics.connectionsOpening());
            json.put("ending", metrics.connectionsEnding());
            json.put("full", metrics.connectionsFull());
            json.put("opened", metrics.connectionsOpened());
            json.put("turnedAway", metrics.connectionsTurnedAway());
            json.put("failed", metrics.connectionsFailed());
            json.put("acceptFailures", metrics.acceptFailures());
            json.put("received", metrics.bytesReceived());
            json.put("sent", metrics.bytesSent());
            json.put("queued", metrics.bytesQueued());
            json.put("handshakes", metrics.handshakes());
            json.put("handshakesFailed", metrics.handshakesFailed());
        });
    }

    private static void loop(Json list, ObservedLoop observed) {
        LoopView loop = observed.view();
        Metrics metrics = loop.metrics();
        list.object(json -> {
            json.put("name", observed.name());
            json.put("backend", loop.backend());
            json.put("why", loop.report().toString());
            json.put("activity", loop.activity().name().toLowerCase(Locale.ROOT));
            json.put("turnLasts", loop.turnLasts());
            json.put("running", loop.running().orElse(null));
            json.put("busy", metrics.busyNanos());
            json.put("turns", metrics.turns());
            json.put("waits", metrics.waits());
            json.put("wakeUps", metrics.wakeUps());
            json.put("events", metrics.events());
            json.put("delivered", metrics.delivered());
            json.put("failures", metrics.failures());
            json.put("sources", metrics.sources());
            json.put("alarms", metrics.alarmsPending());
            json.put("waiting", waiting(metrics));
            histogram(json, "lag", metrics.loopLag());
            histogram(json, "turn", metrics.turnTime());
        });
    }

    private static int waiting(Metrics metrics) {
        int waiting = 0;
        for (Priority priority : Priority.values()) {
            waiting += metrics.queueDepth(priority);
        }
        return waiting;
    }

    private static void histogram(Json json, String name, Histogram histogram) {
        json.key(name).object(values -> {
            values.put("count", histogram.count());
            values.put("p50", histogram.percentileNanos(50));
            values.put("p99", histogram.percentileNanos(99));
            values.put("max", histogram.maxNanos());
            // The page makes the figures of the last second out of two answers.
            values.key("buckets")
                    .array(buckets -> histogram
                            .buckets()
                            .forEach(bucket -> buckets.array(
                                    pair -> pair.value(bucket.atMostNanos()).value(bucket.count()))));
        });
    }

    /** Returns why this is not healthy: a server that takes no more connections, or a loop that is held; null if it is. */
    @Nullable
    String complaint() {
        for (Map.Entry<String, Monitored> each : observed.servers.entrySet()) {
            if (!each.getValue().isOpen()) {
                return each.getKey() + " is closed, or closing";
            }
        }
        for (ObservedLoop loop : observed.loops()) {
            Duration lasts = loop.view().turnLasts();
            if (loop.view().activity() == Activity.ENDED) {
                return loop.name() + " has ended";
            }
            if (lasts.compareTo(HELD) > 0) {
                return loop.name() + " has been in a turn for " + lasts.toSeconds() + " s";
            }
        }
        return null;
    }

    // ---- Connections ----

    private record Found(String server, ConnectionSnapshot connection) {}

    Json connections(Map<String, String> query) {
        String search = query.getOrDefault("search", "").toLowerCase(Locale.ROOT);
        String state = query.getOrDefault("state", "");
        String only = query.getOrDefault("server", "");
        boolean descending = query.containsKey("descending");
        Comparator<Found> order = order(query.getOrDefault("sort", "id"));
        FirstOf<Found> first = new FirstOf<>(
                descending ? Collections.reverseOrder(order) : order,
                Math.clamp(number(query, "from"), 0, Integer.MAX_VALUE - PAGE) + PAGE);
        int total = 0;
        for (Map.Entry<String, Monitored> each : observed.servers.entrySet()) {
            if (only.isEmpty() || only.equals(each.getKey())) {
                List<ConnectionSnapshot> connections = each.getValue().connections();
                total += connections.size();
                // They come by their ids, roughly; what comes first in the order is added first, and pushes nothing
                // out.
                for (ConnectionSnapshot connection : descending ? connections.reversed() : connections) {
                    if (isWanted(each.getKey(), connection, search, state)) {
                        first.add(new Found(each.getKey(), connection));
                    }
                }
            }
        }
        int found = first.added();
        int from = Math.clamp(number(query, "from"), 0, found);
        List<Found> sorted = first.sorted();
        List<Found> page = sorted.subList(Math.min(from, sorted.size()), sorted.size());
        int all = total;
        return new Json().object(json -> {
            json.put("nanos", System.nanoTime());
            json.put("total", all);
            json.put("found", found);
            json.put("from", from);
            json.put("page", PAGE);
            json.put("servers", observed.servers.size());
            json.key("connections").array(list -> page.forEach(each -> connection(list, each)));
        });
    }

    private static boolean isWanted(String server, ConnectionSnapshot connection, String search, String state) {
        boolean inState = switch (state) {
            case "" -> true;
            case "full" -> connection.isFull();
            case "paused" -> connection.paused();
            case "tls" -> connection.tls() != null;
            default -> connection.state().name().equalsIgnoreCase(state);
        };
        return inState
                && (search.isEmpty()
                        || Long.toString(connection.id()).equals(search)
                        || text(connection.remoteAddress())
                                .toLowerCase(Locale.ROOT)
                                .contains(search)
                        || connection.handler().toLowerCase(Locale.ROOT).contains(search)
                        || connection.loop().toLowerCase(Locale.ROOT).contains(search)
                        || server.toLowerCase(Locale.ROOT).contains(search));
    }

    private static Comparator<Found> order(String by) {
        Comparator<ConnectionSnapshot> order = switch (by) {
            case "remote" -> Comparator.comparing(each -> text(each.remoteAddress()));
            case "state" -> Comparator.comparing(ConnectionSnapshot::state);
            case "queued" -> Comparator.comparingLong(ConnectionSnapshot::queuedBytes);
            case "received" -> Comparator.comparingLong(ConnectionSnapshot::bytesReceived);
            case "sent" -> Comparator.comparingLong(ConnectionSnapshot::bytesSent);
            case "idle" -> Comparator.comparing(ConnectionSnapshot::idle);
            case "age" -> Comparator.comparing(ConnectionSnapshot::age);
            case "loop" -> Comparator.comparing(ConnectionSnapshot::loop);
            default -> Comparator.comparingLong(ConnectionSnapshot::id);
        };
        return by.equals("server")
                ? Comparator.comparing(Found::server).thenComparing(Found::connection, order)
                : Comparator.comparing(Found::connection, order.thenComparingLong(ConnectionSnapshot::id));
    }

    private static long number(Map<String, String> query, String name) {
        try {
            return Long.parseLong(query.getOrDefault(name, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static String text(@Nullable InetSocketAddress address) {
        return address == null
                ? ""
                : address.isUnresolved()
                        ? address.getHostString() + ":" + address.getPort()
                        : inUrl(address.getAddress()) + ":" + address.getPort();
    }

    /** Returns an address as it stands in a URL. */
    static String inUrl(InetAddress address) {
        String text = address.getHostAddress();
        return text.indexOf(':') < 0 ? text : "[" + text + "]";
    }

    private static void connection(Json list, Found found) {
        ConnectionSnapshot connection = found.connection();
        list.object(json -> {
            json.put("server", found.server());
            json.put("id", connection.id());
            json.put("remote", text(connection.remoteAddress()));
            json.put("local", text(connection.localAddress()));
            json.put("state", connection.state().name().toLowerCase(Locale.ROOT));
            json.put("loop", connection.loop());
            json.put("handler", connection.handler());
            json.put("queued", connection.queuedBytes());
            json.put("low", connection.lowWater());
            json.put("high", connection.highWater());
            json.put("full", connection.isFull());
            json.put("paused", connection.paused());
            json.put("received", connection.bytesReceived());
            json.put("sent", connection.bytesSent());
            json.put("age", connection.age());
            json.put("idle", connection.idle());
            json.put("sinceReceived", connection.sinceReceived());
            json.put("sinceSent", connection.sinceSent());
            TlsSession tls = connection.tls();
            json.put("tls", tls == null ? null : tls.protocol() + " " + tls.cipherSuite());
            json.put("alpn", tls == null ? null : tls.applicationProtocol());
            json.put("sni", tls == null ? null : tls.serverName());
        });
    }

    /** One connection, or null if it has ended. */
    Json connection(Map<String, String> query) {
        String name = query.getOrDefault("server", "");
        Monitored server = observed.servers.get(name);
        ConnectionSnapshot connection =
                server == null ? null : server.connection(number(query, "id")).orElse(null);
        return new Json().object(json -> {
            json.put("nanos", System.nanoTime());
            json.key("connection");
            if (connection == null) {
                json.value(null);
            } else {
                connection(json, new Found(name, connection));
            }
        });
    }

    @Nullable
    Connection find(Map<String, String> query) {
        Monitored server = observed.servers.get(query.getOrDefault("server", ""));
        return server == null ? null : server.context().connection(number(query, "id"));
    }

    // ---- Stalls ----

    Json stalls() {
        return new Json()
                .object(json -> json.key("loops")
                        .array(list -> observed.loops()
                                .forEach(loop -> list.object(each -> {
                                    StallReport report = loop.stalls();
                                    each.put("name", loop.name());
                                    each.put("turnLasts", loop.view().turnLasts());
                                    each.put("running", loop.view().running().orElse(null));
                                    each.put("blockedCount", report.blockedCount());
                                    tally(each, "busy", report.busy());
                                    tally(each, "starved", report.starved());
                                    tally(each, "paused", report.paused());
                                    each.key("blocked")
                                            .array(places -> report.blocked().forEach(place -> blocked(places, place)));
                                }))));
    }

    private static void tally(Json json, String name, StallReport.Tally tally) {
        json.key(name).object(values -> {
            values.put("count", tally.count());
            values.put("longest", tally.longest());
            values.put("total", tally.total());
        });
    }

    private static void blocked(Json list, StallReport.Blocked place) {
        list.object(json -> {
            json.put("place", place.place());
            json.put("line", place.line().map(StackTraceElement::toString).orElse(null));
            json.put("handler", place.last().handler());
            json.put("ongoing", place.ongoing());
            json.put("since", place.sinceLast());
            tally(json, "tally", place.tally());
            json.key("stack")
                    .array(frames ->
                            place.last().stack().stream().limit(64).forEach(frame -> frames.value(frame.toString())));
        });
    }

    // ---- Timers and tasks ----

    Json timers() {
        return new Json().object(json -> {
            json.put("nanos", System.nanoTime());
            json.key("loops")
                    .array(list -> observed.loops()
                            .forEach(loop -> list.object(each -> {
                                Metrics metrics = loop.metrics();
                                each.put("name", loop.name());
                                each.put("pending", metrics.alarmsPending());
                                each.put("due", metrics.alarmsDue());
                                histogram(each, "lag", metrics.loopLag());
                                each.key("depths").object(depths -> {
                                    for (Priority priority : Priority.values()) {
                                        depths.put(priority.name(), metrics.queueDepth(priority));
                                    }
                                });
                                each.key("next")
                                        .array(next -> loop.view()
                                                .nextAlarms(ALARMS)
                                                .forEach(alarm -> next.object(one -> {
                                                    one.put("what", alarm.what());
                                                    one.put("in", alarm.in());
                                                    one.put(
                                                            "priority",
                                                            alarm.priority().name());
                                                })));
                            })));
            json.key("pools")
                    .array(list -> observed.pools.forEach((name, pool) -> list.object(each -> {
                        ComputePoolMetrics metrics = pool.metrics();
                        each.put("name", name);
                        each.put("active", metrics.active());
                        each.put("submitted", metrics.submitted());
                        each.put("completed", metrics.completed());
                        each.put("failed", metrics.failed());
                        each.put("rejected", metrics.rejected());
                        each.put("time", metrics.executionTime());
                        each.key("depths").object(depths -> {
                            for (Priority priority : Priority.values()) {
                                depths.put(priority.name(), metrics.depth(priority));
                            }
                        });
                    })));
            json.key("objects")
                    .array(list -> observed.objects.forEach((name, pool) -> list.object(each -> {
                        ObjectPoolMetrics metrics = pool.metrics();
                        each.put("name", name);
                        each.put("created", metrics.created());
                        each.put("acquired", metrics.acquired());
                        each.put("idle", metrics.idle());
                        each.put("inUse", metrics.inUse());
                    })));
            json.key("sets")
                    .array(list -> observed.sets.forEach((name, size) -> list.object(each -> {
                        each.put("name", name);
                        each.put("size", size.getAsInt());
                    })));
        });
    }

    // ---- Shutdown and sources ----

    Json shutdown() {
        return new Json()
                .object(json -> json.key("servers")
                        .array(list -> observed.servers.forEach((name, server) -> list.object(each -> {
                            List<String> remaining = server.remaining();
                            each.put("name", name);
                            each.put("what", server.toString());
                            each.put("isOpen", server.isOpen());
                            each.put("count", remaining.size());
                            each.key("remaining")
                                    .array(lines ->
                                            remaining.stream().limit(PAGE).forEach(lines::value));
                            each.key("held")
                                    .array(lines -> server.metrics()
                                            .engine()
                                            .ifPresent(engine -> engine.loops().forEach(loop -> {
                                                if (loop.turnLasts().toMillis() > 100) {
                                                    lines.value(loop.name() + " has been in "
                                                            + loop.running().orElse("a turn") + " for "
                                                            + loop.turnLasts().toMillis() / 1_000.0 + " s");
                                                }
                                            })));
                        }))));
    }

    Json sources(Map<String, String> query) {
        String search = query.getOrDefault("search", "").toLowerCase(Locale.ROOT);
        return new Json()
                .object(json -> json.key("loops")
                        .array(list -> observed.loops()
                                .forEach(loop ->
                                        list.object(each -> {
                                            each.put("name", loop.name());
                                            each.put("backend", loop.view().backend());
                                            each.put("count", loop.metrics().sources());
                                            each.put("most", SOURCES);
                                            each.key("sources")
                                                    .array(lines -> loop
                                                            .view()
                                                            .sources(search.isEmpty() ? SOURCES : Integer.MAX_VALUE)
                                                            .stream()
                                                            .filter(line -> line.toLowerCase(Locale.ROOT)
                                                                    .contains(search))
                                                            .limit(SOURCES)
                                                            .forEach(lines::value));
                                        }))));
    }

    String dump() {
        StringBuilder text = new StringBuilder();
        observed.servers.forEach((name, server) ->
                text.append(name).append(": ").append(server.dump()).append('\n'));
        return text.toString();
    }
}
