package io.millrace.server.group;

import io.millrace.engine.Metrics;
import io.millrace.engine.transport.ReactorServerLoop;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.server.ConnectionSnapshot;
import io.millrace.server.ServerMetrics;
import io.millrace.server.connection.StreamConnection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * What a server or client tells about itself: see {@link io.millrace.server.Monitored}. It has no state of its own, and
 * reads that of the others when it is asked. Any thread.
 */
public final class Monitor implements ServerMetrics {
    /** How many connections a dump shows. */
    private static final int SHOWN = 20;
    /** How many lines {@link #remaining} has at most: 100,000 connections would fill the heap with text. */
    private static final int LINES = 1_000;

    private final LoopGroup loops;
    private final Connections connections;

    public Monitor(LoopGroup loops, Connections connections) {
        this.loops = loops;
        this.connections = connections;
    }

    /** See {@link io.millrace.server.Monitored#dump}. */
    public String dump(Object owner) {
        StringBuilder text =
                new StringBuilder(owner.toString()).append('\n').append(this).append('\n');
        for (ServerLoop loop : loops.all()) {
            loop.describe(text);
        }
        fullest().stream()
                .sorted(Comparator.comparingLong(StreamConnection::queuedBytes).reversed())
                .forEach(each -> text.append("  ")
                        .append(each)
                        .append(": ")
                        .append(each.queuedBytes())
                        .append(" bytes wait to be sent, on ")
                        .append(each.loop())
                        .append('\n'));
        List<String> remaining = remaining();
        if (!remaining.isEmpty()) {
            text.append("a shutdown would wait for ")
                    .append(remaining.size())
                    .append(remaining.size() == LINES ? " or more" : "")
                    .append(", such as ")
                    .append(String.join("; ", remaining.subList(0, Math.min(SHOWN, remaining.size()))))
                    .append('\n');
        }
        return text.toString();
    }

    private List<StreamConnection> fullest() {
        PriorityQueue<StreamConnection> fullest =
                new PriorityQueue<>(Comparator.comparingLong(StreamConnection::queuedBytes));
        for (StreamConnection each : connections.connections()) {
            if (each.queuedBytes() > 0) {
                fullest.add(each);
                if (fullest.size() > SHOWN) {
                    fullest.remove();
                }
            }
        }
        return new ArrayList<>(fullest);
    }

    public List<ConnectionSnapshot> snapshots() {
        List<StreamConnection> all = connections.unended();
        List<ConnectionSnapshot> snapshots = new ArrayList<>(all.size());
        for (StreamConnection each : all) {
            snapshots.add(each.snapshot(null));
        }
        return snapshots;
    }

    public Optional<ConnectionSnapshot> snapshot(long id) {
        return connections.unended().stream()
                .filter(each -> each.id() == id)
                .findFirst()
                .map(each -> each.snapshot(each.localAddressIfOpen()));
    }

    public List<String> remaining() {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<Object, String> each : connections.remaining(LINES).entrySet()) {
            lines.add(each.getValue());
        }
        return List.copyOf(lines);
    }

    // ---- Metrics ----

    @Override
    public int connections() {
        return connections.size();
    }

    @Override
    public int connectionsOpening() {
        return connections.opening();
    }

    @Override
    public int connectionsEnding() {
        return connections.ending();
    }

    @Override
    public long connectionsOpened() {
        return connections.opened();
    }

    @Override
    public long connectionsTurnedAway() {
        return connections.turnedAway();
    }

    @Override
    public long connectionsFailed() {
        return connections.failed();
    }

    @Override
    public long acceptFailures() {
        return connections.acceptFailures();
    }

    @Override
    public long bytesReceived() {
        return connections.bytesReceived();
    }

    @Override
    public long bytesSent() {
        return connections.bytesSent();
    }

    @Override
    public long bytesQueued() {
        long sum = 0;
        for (StreamConnection each : connections.connections()) {
            sum += each.queuedBytes();
        }
        return sum;
    }

    @Override
    public int connectionsFull() {
        int full = 0;
        for (StreamConnection each : connections.connections()) {
            full += each.isFull() ? 1 : 0;
        }
        return full;
    }

    @Override
    public long handshakes() {
        return connections.handshakes();
    }

    @Override
    public long handshakesFailed() {
        return connections.handshakesFailed();
    }

    @Override
    public Optional<Metrics> engine() {
        return ReactorServerLoop.metrics(loops.all());
    }

    /** Returns the counters of the connections in one human-readable line. */
    @Override
    public String toString() {
        return connections() + " connections open, " + connectionsOpening() + " opening, " + connectionsEnding()
                + " ending, " + connectionsFull() + " full; " + connectionsOpened() + " opened, "
                + connectionsTurnedAway() + " turned away, " + connectionsFailed() + " failed, " + acceptFailures()
                + " accept failures; " + bytesReceived() + " bytes received, " + bytesSent() + " sent, "
                + bytesQueued() + " queued"
                + (handshakes() + handshakesFailed() == 0
                        ? ""
                        : "; " + handshakes() + " handshakes, " + handshakesFailed() + " failed");
    }
}
