package io.millrace.server;

import io.millrace.engine.transport.TransportLoop;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The connections of a server or client, and what they count together. */
final class Connections implements ServerContext, StreamConnection.Keeper {
    private final ConcurrentHashMap<Long, StreamConnection> present = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    /** Of those that are over. */
    private final LongAdder bytesIn = new LongAdder();

    private final LongAdder bytesOut = new LongAdder();
    /** Those whose handlers have not been told all: one less when the last call has returned. */
    private final AtomicLong unended = new AtomicLong();

    /** Those that are over, and whose handlers have not returned from being told so: for people who ask what has not ended. */
    private final Set<StreamConnection> ending = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** A connection may come in: false from {@link #closeAdmission} on. If true, {@link #add} or {@link #withdraw} follows. */
    boolean admit() {
        unended.incrementAndGet();
        if (closed) {
            withdraw();
            return false;
        }
        return true;
    }

    /** What was admitted is not there after all, and no handler knows of it. */
    void withdraw() {
        countOut();
    }

    /**
     * None is admitted from now on. Each one that was admitted before is among {@link #connections} by now, or its thread finds this out in {@link #add}.
     *
     * @return completes when all have ended and their handlers were told
     */
    CompletableFuture<Void> closeAdmission() {
        closed = true;
        if (unended.get() == 0) {
            ended.complete(null);
        }
        return ended;
    }

    @Override
    public void hasEnded(StreamConnection connection) {
        ending.remove(connection);
        countOut();
    }

    private void countOut() {
        // The count changes before the flag is looked at; closeAdmission does it the other way round: one of the two
        // completes.
        if (unended.decrementAndGet() == 0 && closed) {
            ended.complete(null);
        }
    }

    long nextId() {
        return ids.incrementAndGet();
    }

    /** One that was admitted. It is in the map before the flag is looked at: whoever closes all finds it there, or it is closed here. */
    void add(StreamConnection connection) {
        present.put(connection.id(), connection);
        if (closed) {
            connection.abort();
        }
    }

    @Override
    public boolean isOver(StreamConnection connection) {
        if (!present.remove(connection.id(), connection)) {
            return false;
        }
        ending.add(connection);
        bytesIn.add(connection.bytesReceived());
        bytesOut.add(connection.bytesSent());
        return true;
    }

    int size() {
        return present.size();
    }

    /** Those that are there, and those that are over but have not been told of their end to the last. */
    List<StreamConnection> unended() {
        List<StreamConnection> all = new ArrayList<>(ending);
        all.addAll(present.values());
        return all;
    }

    long opened() {
        return ids.get();
    }

    long bytesReceived() {
        return bytesIn.sum()
                + present.values().stream()
                        .mapToLong(StreamConnection::bytesReceived)
                        .sum();
    }

    long bytesSent() {
        return bytesOut.sum()
                + present.values().stream()
                        .mapToLong(StreamConnection::bytesSent)
                        .sum();
    }

    @Override
    public SendResult send(long id, ByteBuffer data) {
        StreamConnection connection = present.get(id);
        return connection == null ? SendResult.UNKNOWN : connection.send(data);
    }

    @Override
    public int broadcast(ByteBuffer data) {
        ByteBuffer shared = WriteQueue.copy(data).asReadOnlyBuffer();
        int taken = 0;
        IdentityHashMap<TransportLoop, Batch> batches = new IdentityHashMap<>();
        for (StreamConnection connection : present.values()) {
            if (!connection.isClosed()) {
                if (connection.sendsHere()) {
                    // As a send would, so that one does not overtake the other.
                    connection.sendShared(shared.duplicate());
                } else {
                    batches.computeIfAbsent(connection.loop(), loop -> new Batch(shared))
                            .add(connection);
                }
                taken++;
            }
        }
        batches.forEach((loop, batch) -> {
            try {
                loop.execute(batch);
            } catch (RejectedExecutionException e) {
                // That loop has ended, and its connections with it.
            }
        });
        return taken;
    }

    @Override
    public boolean close(long id) {
        StreamConnection connection = present.get(id);
        if (connection == null) {
            return false;
        }
        connection.close();
        return true;
    }

    @Override
    public @Nullable Connection connection(long id) {
        return present.get(id);
    }

    @Override
    public Collection<StreamConnection> connections() {
        return Collections.unmodifiableCollection(present.values());
    }

    @Override
    public String toString() {
        return present.size() + " connections";
    }

    /** A broadcast to the connections of one loop: one hand-over, and each gets a view of the same bytes. */
    private static final class Batch implements Runnable {
        private final ByteBuffer shared;
        private final java.util.ArrayList<StreamConnection> to = new java.util.ArrayList<>();

        Batch(ByteBuffer shared) {
            this.shared = shared;
        }

        void add(StreamConnection connection) {
            to.add(connection);
        }

        @Override
        public void run() {
            to.forEach(connection -> connection.sendShared(shared.duplicate()));
        }
    }
}
