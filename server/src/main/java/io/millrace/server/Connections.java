package io.millrace.server;

import io.millrace.engine.transport.ServerLoop;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a server or client, and what they count together.
 *
 * <p><b>Admission.</b> One word says how many there are and whether more may come; whoever adds one has taken its place there first. So the limit is exact, however many loops
 * accept, and after {@link #closeAdmission} nothing is added. A place is given back when the connection's handler has been told of its end: so a handler that counts never counts more than the limit.
 *
 * <p><b>The end.</b> A second count has all whose handlers have not been told all. It goes up before a place is asked for, and down when the last call has returned; {@link #closeAdmission} takes the places away and
 * then looks at it. So it completes the end, or whoever counts out last does.
 */
final class Connections implements ServerContext, StreamConnection.Keeper {
    /** What became of somebody who wants a place. */
    enum Admission {
        TAKEN,
        /** There are as many as there may be. */
        FULL,
        /** There are as many from that address as there may be. */
        ADDRESS_FULL,
        CLOSED
    }

    private static final long CLOSED = Long.MIN_VALUE;

    private final ConcurrentHashMap<Long, StreamConnection> present = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    /** How many places are taken; with {@link #CLOSED} if no more are given. */
    private final AtomicLong places = new AtomicLong();

    private final int most;
    private final int mostPerAddress;
    /** How many of an address there are; null if that is not asked for. */
    private final @Nullable ConcurrentHashMap<InetAddress, Integer> perAddress;

    private final SendBudget budget;
    /** Of those that are over. */
    private final LongAdder bytesIn = new LongAdder();

    private final LongAdder bytesOut = new LongAdder();

    /** Those whose handlers have not been told all. */
    private final AtomicLong unended = new AtomicLong();

    /** Those that are over, and whose handlers have not returned from being told so: for people who ask what has not ended. */
    private final Set<StreamConnection> ending = ConcurrentHashMap.newKeySet();

    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** Whether what is lost is noted. */
    private volatile boolean draining;

    /** Those that ended since {@link #beginDraining} and had bytes left, and how many. */
    private final Map<Long, String> cutOff = new ConcurrentSkipListMap<>();

    Connections(ServerSettings settings, int most, int mostPerAddress) {
        this.most = most;
        this.mostPerAddress = mostPerAddress;
        this.perAddress = mostPerAddress == Integer.MAX_VALUE ? null : new ConcurrentHashMap<>();
        this.budget = new SendBudget(settings.budgetBytes, settings.budgetFiles, present::values);
    }

    // ---- Places ----

    /** Takes a place. If it was taken, {@link #add} or {@link #leave} must follow. */
    Admission admit(InetAddress address) {
        unended.incrementAndGet();
        Admission admission = admit();
        if (admission == Admission.TAKEN && perAddress != null && !admit(perAddress, address)) {
            places.decrementAndGet();
            admission = Admission.ADDRESS_FULL;
        }
        if (admission != Admission.TAKEN) {
            countOut();
        }
        return admission;
    }

    private Admission admit() {
        for (; ; ) {
            long taken = places.get();
            if (taken < 0) {
                return Admission.CLOSED;
            }
            if (taken >= most) {
                return Admission.FULL;
            }
            if (places.compareAndSet(taken, taken + 1)) {
                return Admission.TAKEN;
            }
        }
    }

    private boolean admit(ConcurrentHashMap<InetAddress, Integer> counts, InetAddress address) {
        for (; ; ) {
            Integer count = counts.get(address);
            if (count == null) {
                if (counts.putIfAbsent(address, 1) == null) {
                    return true;
                }
            } else if (count >= mostPerAddress) {
                return false;
            } else if (counts.replace(address, count, count + 1)) {
                return true;
            }
        }
    }

    /** Gives a place back for which there was no connection after all. */
    void leave(InetAddress address) {
        giveBack(address);
        countOut();
    }

    private void giveBack(InetAddress address) {
        if (perAddress != null) {
            perAddress.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
        }
        places.decrementAndGet();
    }

    /**
     * Gives no more places. Those that are taken stay: each of them is among {@link #connections} by now, or its thread finds this out in {@link #add}.
     *
     * @return completes when all have ended and their handlers were told
     */
    CompletableFuture<Void> closeAdmission() {
        places.getAndUpdate(taken -> taken | CLOSED);
        if (unended.get() == 0) {
            ended.complete(null);
        }
        return ended;
    }

    /** From now on those are noted that end before they have sent all, for whatever reason. */
    void beginDraining() {
        draining = true;
    }

    /** Those that ended since then and had bytes left, and how many each. */
    List<String> cutOff() {
        return List.copyOf(cutOff.values());
    }

    /** Once for each, also if its loop ends it just now. */
    void noteCutOff(StreamConnection connection, long unsent) {
        cutOff.putIfAbsent(connection.id(), connection + ", " + unsent + " bytes");
    }

    private boolean isClosed() {
        return places.get() < 0;
    }

    private void countOut() {
        if (unended.decrementAndGet() == 0 && isClosed()) {
            ended.complete(null);
        }
    }

    /** How many places are taken: those of connections, and of some that are about to be. */
    long placesTaken() {
        return places.get() & ~CLOSED;
    }

    int most() {
        return most;
    }

    int mostPerAddress() {
        return mostPerAddress;
    }

    /** How many addresses are counted. */
    int addresses() {
        return perAddress == null ? 0 : perAddress.size();
    }

    SendBudget budget() {
        return budget;
    }

    @Override
    public void bytesWait(StreamConnection connection, long change) {
        budget.chargeBytes(connection, change);
    }

    @Override
    public void filesWait(StreamConnection connection, int change) {
        budget.chargeFiles(connection, change);
    }

    @Override
    public Runnable willRelease(StreamConnection connection) {
        return budget.willRelease(connection);
    }

    // ---- Connections ----

    long nextId() {
        return ids.incrementAndGet();
    }

    /** One that has a place. It is in the map before the word is looked at: whoever closes all finds it there, or it is closed here. */
    void add(StreamConnection connection) {
        present.put(connection.id(), connection);
        if (isClosed()) {
            connection.abort();
        }
    }

    @Override
    public boolean tryRemove(StreamConnection connection, long unsent) {
        if (!present.remove(connection.id(), connection)) {
            return false;
        }
        if (draining && unsent > 0) {
            noteCutOff(connection, unsent);
        }
        ending.add(connection);
        bytesIn.add(connection.bytesReceived());
        bytesOut.add(connection.bytesSent());
        return true;
    }

    @Override
    public void onEnded(StreamConnection connection) {
        ending.remove(connection);
        giveBack(connection.remoteAddress().getAddress());
        countOut();
    }

    /** Those that are there, and those that are over but have not been told of their end to the last. */
    List<StreamConnection> unended() {
        List<StreamConnection> all = new ArrayList<>(ending);
        all.addAll(present.values());
        return all;
    }

    int size() {
        return present.size();
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
        return broadcast(present.values(), data);
    }

    @Override
    public int broadcast(Collection<? extends Connection> to, ByteBuffer data) {
        int size = data.remaining();
        IdentityHashMap<ServerLoop, Batch> batches = new IdentityHashMap<>();
        ByteBuffer shared = null;
        int taken = 0;
        boolean done = false;
        try {
            for (Connection each : to) {
                StreamConnection connection = (StreamConnection) each;
                if (connection.sendsHere()) {
                    // As a send would, so that one does not overtake the other.
                    if (!connection.refuses()) {
                        shared = shared == null ? share(data) : shared;
                        taken += connection.sendHere(shared.duplicate(), true) == SendResult.CLOSED ? 0 : 1;
                    }
                } else if (connection.admits(size)) {
                    batches.computeIfAbsent(connection.loop(), loop -> new Batch(size))
                            .add(connection);
                    shared = shared == null ? share(data) : shared;
                }
            }
            done = true;
        } finally {
            if (!done) {
                batches.values().forEach(Batch::withdraw);
            }
        }
        if (shared != null) {
            for (Map.Entry<ServerLoop, Batch> batch : batches.entrySet()) {
                taken += batch.getValue().handOver(batch.getKey(), shared);
            }
        }
        if (taken > 0) {
            data.position(data.limit());
        }
        return taken;
    }

    private static ByteBuffer share(ByteBuffer data) {
        return WriteQueue.copy(data).asReadOnlyBuffer();
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

    /** A broadcast to the connections of one loop: one hand-over, and each gets a view of the same bytes. They are announced there. */
    private static final class Batch {
        private final int size;
        private final ArrayList<StreamConnection> to = new ArrayList<>();

        Batch(int size) {
            this.size = size;
        }

        void add(StreamConnection connection) {
            to.add(connection);
        }

        /** Returns how many take it. */
        int handOver(ServerLoop loop, ByteBuffer shared) {
            try {
                loop.execute(() -> to.forEach(connection -> connection.arrive(shared.duplicate())));
                return to.size();
            } catch (RejectedExecutionException e) {
                withdraw(); // That loop has ended, and its connections with it.
                return 0;
            }
        }

        void withdraw() {
            to.forEach(connection -> connection.withdraw(size));
        }
    }
}
