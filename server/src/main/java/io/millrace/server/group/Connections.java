package io.millrace.server.group;

import io.millrace.engine.transport.ServerLoop;
import io.millrace.server.Connection;
import io.millrace.server.SendResult;
import io.millrace.server.ServerContext;
import io.millrace.server.connection.ConnectionKeeper;
import io.millrace.server.connection.Conversing;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.connection.WriteQueue;
import io.millrace.server.support.ServerSettings;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of a server or client, with their limits and totals.
 *
 * <p><b>Admission.</b> One atomic word holds how many places are taken and whether more may be taken. A connection
 * takes a place before it is added, so the limit is exact no matter how many loops accept, and nothing is added after
 * {@link #closeAdmission}. The place becomes free when {@code onDisconnect} has returned, so a handler that counts
 * connections never counts more than the limit; and when its conversation has ended, if it has one.
 *
 * <p><b>The end.</b> A second counter holds the connections whose last callback has not returned. It is incremented
 * before a place is taken and decremented after the last callback. {@link #closeAdmission} first closes the places and
 * then reads this counter: either it finds zero and completes the end, or the last connection to leave does.
 */
public final class Connections implements ServerContext, ConnectionKeeper {
    /** The answer to a request for a place. */
    public enum Admission {
        TAKEN,
        /** The limit for all connections is reached. */
        FULL,
        /** The limit for this address is reached. */
        ADDRESS_FULL,
        CLOSED
    }

    private static final long CLOSED = Long.MIN_VALUE;

    private final ConcurrentHashMap<Long, StreamConnection> present = new ConcurrentHashMap<>();
    /** Those that are being connected, which their users do not see yet. */
    private final Set<StreamConnection> connecting = ConcurrentHashMap.newKeySet();
    /** What is to run when one has ended, of the few of which somebody wants to know. */
    private final Map<StreamConnection, Runnable> afterEnd = new ConcurrentHashMap<>();

    private final AtomicLong ids = new AtomicLong();
    /** How many places are taken; has the bit {@link #CLOSED} once no more may be taken. */
    private final AtomicLong places = new AtomicLong();

    private final int most;
    private final int mostPerAddress;
    /** How many connections each address has; null if there is no limit per address. */
    private final @Nullable ConcurrentHashMap<InetAddress, Integer> perAddress;

    private final SendBudget budget;
    /** Whether a connection that is being opened has a handshake. */
    private final boolean secured;
    /** Totals of the connections that have ended. */
    private final LongAdder bytesIn = new LongAdder();

    private final LongAdder bytesOut = new LongAdder();

    /** What was told of them so far. */
    private final LongAccumulator shownIn = new LongAccumulator(Math::max, 0);

    private final LongAccumulator shownOut = new LongAccumulator(Math::max, 0);

    // What happens rarely, compared with bytes.
    private final LongAdder turnedAway = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder acceptFailures = new LongAdder();
    private final LongAdder handshakes = new LongAdder();
    private final LongAdder handshakesFailed = new LongAdder();

    /** How many connections have not returned from their last callback. */
    private final AtomicLong unended = new AtomicLong();

    /** Connections that are closed but whose last callback has not returned; for reports about what has not ended. */
    private final Set<StreamConnection> ending = ConcurrentHashMap.newKeySet();

    /** What else has not ended: see {@link #tryEnter}. By identity. */
    private final Set<Object> entered = ConcurrentHashMap.newKeySet();

    /** Connections whose conversations have not ended, either: see {@link #tryEnter(Conversing)}. */
    private final Set<StreamConnection> sharing = ConcurrentHashMap.newKeySet();

    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** Whether connections that lose bytes are recorded. */
    private volatile boolean draining;

    /** Connections that ended after {@link #beginDraining} with unsent bytes, and how many bytes. */
    private final Map<Long, String> cutOff = new ConcurrentSkipListMap<>();

    public Connections(ServerSettings settings, int most, int mostPerAddress) {
        this.most = most;
        this.secured = settings.tls != null;
        this.mostPerAddress = mostPerAddress;
        this.perAddress = mostPerAddress == Integer.MAX_VALUE ? null : new ConcurrentHashMap<>();
        this.budget = new SendBudget(settings.budgetBytes, settings.budgetFiles, present::values);
    }

    // ---- Places ----

    /** Takes a place; without an address, only one of all. On success, {@link #add} or {@link #leave} must follow. */
    public Admission admit(@Nullable InetAddress address) {
        unended.incrementAndGet();
        Admission admission = perAddress == null || address == null ? admit() : admit(perAddress, address);
        if (admission != Admission.TAKEN) {
            if (admission != Admission.CLOSED) {
                turnedAway.increment();
            }
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

    /**
     * Takes both places in one step: a place taken only to find that the address has reached its limit would turn away
     * another connection meanwhile.
     */
    private Admission admit(ConcurrentHashMap<InetAddress, Integer> counts, InetAddress address) {
        Admission[] admission = {Admission.CLOSED};
        counts.compute(address, (same, count) -> {
            int open = count == null ? 0 : count;
            if (!isClosed()) {
                admission[0] = open >= mostPerAddress ? Admission.ADDRESS_FULL : admit();
            }
            return admission[0] == Admission.TAKEN ? Integer.valueOf(open + 1) : count;
        });
        return admission[0];
    }

    /** Gives back a place that no connection will use. */
    public void leave(@Nullable InetAddress address) {
        giveBack(address);
        countOut();
    }

    /** Counts something in that is not a connection, but that the end has to wait for. If it is true, {@link #exit} must follow. */
    public boolean tryEnter(Object what) {
        unended.incrementAndGet();
        entered.add(what);
        // Not earlier: either whoever closes finds it among the others, or it is turned away here.
        if (isClosed()) {
            entered.remove(what);
            countOut();
            return false;
        }
        return true;
    }

    public void exit(Object what) {
        entered.remove(what);
        countOut();
    }

    /**
     * The same for a conversation. Its connection's place becomes free when both have ended: otherwise peers that vanish
     * could have any number of conversations run, whatever the limit.
     */
    public boolean tryEnter(Conversing conversation) {
        sharing.add(conversation.connection());
        if (tryEnter((Object) conversation)) {
            return true;
        }
        sharing.remove(conversation.connection());
        return false;
    }

    public void exit(Conversing conversation) {
        leavePlace(conversation.connection());
        exit((Object) conversation);
    }

    /** The first of the two leaves it to the other. */
    private void leavePlace(StreamConnection connection) {
        if (!sharing.remove(connection)) {
            giveBack(connection.remoteAddress().getAddress());
        }
    }

    /** Returns the conversations that have not ended. */
    List<Conversing> conversations() {
        return entered.stream()
                .filter(Conversing.class::isInstance)
                .map(Conversing.class::cast)
                .toList();
    }

    /** Records a conversation that had not ended at the deadline. */
    void noteCutShort(Conversing conversation) {
        StreamConnection connection = conversation.connection();
        cutOff.putIfAbsent(
                connection.id(),
                connection + ", " + connection.queuedBytes() + " bytes, whose conversation had not ended");
    }

    private void giveBack(@Nullable InetAddress address) {
        if (perAddress != null && address != null) {
            perAddress.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
        }
        places.decrementAndGet();
    }

    /**
     * Closes the places: no more can be taken. A connection that has one is among {@link #connections} already, or is
     * closed by its own thread in {@link #add}.
     *
     * @return completes when all connections have ended and their last callbacks have returned
     */
    public CompletableFuture<Void> closeAdmission() {
        places.getAndUpdate(taken -> taken | CLOSED);
        if (unended.get() == 0) {
            ended.complete(null);
        }
        return ended;
    }

    /** From now on, records connections that end with unsent bytes, for whatever reason. */
    void beginDraining() {
        draining = true;
    }

    /** Returns the connections that ended with unsent bytes since {@link #beginDraining}, and how many bytes each. */
    List<String> cutOff() {
        return List.copyOf(cutOff.values());
    }

    /** Records a connection once, even if its loop ends it at the same time. */
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

    /** Returns how many places are taken, including those of connections about to be added. */
    public long placesTaken() {
        return places.get() & ~CLOSED;
    }

    int most() {
        return most;
    }

    int mostPerAddress() {
        return mostPerAddress;
    }

    /** Returns how many addresses have connections. */
    int addresses() {
        return perAddress == null ? 0 : perAddress.size();
    }

    SendBudget budget() {
        return budget;
    }

    @Override
    public void onBytesWaiting(StreamConnection connection, long change) {
        budget.chargeBytes(connection, change);
    }

    @Override
    public void onFilesWaiting(StreamConnection connection, int change) {
        budget.chargeFiles(connection, change);
    }

    @Override
    public Runnable willRelease(StreamConnection connection) {
        return budget.willRelease(connection);
    }

    @Override
    public ServerContext context() {
        return this;
    }

    // ---- Connections ----

    public long nextId() {
        return ids.incrementAndGet();
    }

    /**
     * Adds a connection that has a place. It enters the map before the word is read: so either the thread that closes
     * all connections finds it there, or it is closed here.
     */
    void add(StreamConnection connection) {
        present.put(connection.id(), connection);
        if (isClosed()) {
            connection.abort();
        }
    }

    /** One that has a place, and is being connected. Whoever closes ends it by its attempt. */
    public void addAttempt(StreamConnection connection) {
        connecting.add(connection);
    }

    /** One that has a place, and whose handshake is not complete: its users do not see it yet. */
    void addUnsecured(StreamConnection connection) {
        connecting.add(connection);
        if (isClosed()) {
            connection.abort();
        }
    }

    @Override
    public void onSecured(StreamConnection connection) {
        promote(connection);
    }

    /** Aborts those whose handshakes are not complete. A client's are ended by their attempts, too. */
    public void abortUnsecured() {
        connecting.forEach(StreamConnection::abort);
    }

    /** On its loop: it stands, and is one of the others from now on. */
    public void promote(StreamConnection connection) {
        if (secured) {
            handshakes.increment();
        }
        add(connection);
        connecting.remove(connection);
    }

    /** Has something run when the last call of a connection's handler has returned. In one of its callbacks. */
    public void afterEnd(StreamConnection connection, Runnable what) {
        afterEnd.put(connection, what);
    }

    @Override
    public boolean tryRemove(StreamConnection connection, long unsent) {
        if (!present.remove(connection.id(), connection)) {
            if (!connecting.remove(connection)) {
                return false;
            }
            if (secured) {
                handshakesFailed.increment();
            }
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
        if (connection.hasEndedBadly()) {
            failed.increment();
        }
        leavePlace(connection);
        Runnable next = afterEnd.isEmpty() ? null : afterEnd.remove(connection);
        if (next != null) {
            next.run();
        }
        countOut();
    }

    /** Returns the connections that are open, and those that are closed but whose last callback has not returned. */
    public List<StreamConnection> unended() {
        List<StreamConnection> all = new ArrayList<>(ending);
        all.addAll(connecting);
        all.addAll(present.values());
        return all;
    }

    /** Everything that has not ended, and its name. */
    public Map<Object, String> remaining() {
        return remaining(Integer.MAX_VALUE);
    }

    /** The same, but at most so many; what is closed already comes first. */
    Map<Object, String> remaining(int atMost) {
        Map<Object, String> remaining = new LinkedHashMap<>();
        for (StreamConnection connection : unended()) {
            if (remaining.size() == atMost) {
                return remaining;
            }
            long queued = connection.queuedBytes();
            remaining.put(
                    connection,
                    connection + ", on " + connection.loop()
                            + (queued == 0 ? "" : ", " + queued + " bytes wait to be sent"));
        }
        entered.forEach(what -> remaining.put(what, what.toString()));
        return remaining;
    }

    int size() {
        return present.size();
    }

    int opening() {
        return connecting.size();
    }

    int ending() {
        return ending.size();
    }

    long turnedAway() {
        return turnedAway.sum();
    }

    long failed() {
        return failed.sum();
    }

    long acceptFailures() {
        return acceptFailures.sum();
    }

    public void countAcceptFailure() {
        acceptFailures.increment();
    }

    long handshakes() {
        return handshakes.sum();
    }

    long handshakesFailed() {
        return handshakesFailed.sum();
    }

    public long opened() {
        return ids.get();
    }

    public long bytesReceived() {
        long bytes = bytesIn.sum();
        for (StreamConnection each : present.values()) {
            bytes += each.bytesReceived();
        }
        return greatest(bytes, shownIn);
    }

    public long bytesSent() {
        long bytes = bytesOut.sum();
        for (StreamConnection each : present.values()) {
            bytes += each.bytesSent();
        }
        return greatest(bytes, shownOut);
    }

    /**
     * A connection that ends between the two steps of a sum is missed: it leaves the present ones before its bytes are
     * added to those of the past, so that none counts twice. A counter must not decrease for that, because its reader
     * would take it for a restart. So the greatest sum so far is the answer then.
     */
    private static long greatest(long bytes, LongAccumulator shown) {
        shown.accumulate(bytes);
        return shown.get();
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
                    // Sent in the same way as by send(), so that neither overtakes the other.
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

    /**
     * The part of a broadcast that goes to one loop: handed over once, and each connection gets a view of the same
     * bytes. Each connection has been announced the send.
     */
    private static final class Batch {
        private final int size;
        private final ArrayList<StreamConnection> to = new ArrayList<>();

        Batch(int size) {
            this.size = size;
        }

        void add(StreamConnection connection) {
            to.add(connection);
        }

        /** Returns how many connections take the bytes. */
        int handOver(ServerLoop loop, ByteBuffer shared) {
            try {
                loop.execute(() -> to.forEach(connection -> connection.arrive(shared.duplicate())));
                return to.size();
            } catch (RejectedExecutionException e) {
                withdraw(); // the loop has ended, and its connections with it
                return 0;
            }
        }

        void withdraw() {
            to.forEach(connection -> connection.withdraw(size));
        }
    }
}
