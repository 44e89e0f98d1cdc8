package io.millrace.backplane;

import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.StoredRecord;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which nodes there are, and who is in which topic on them.
 *
 * <p>Every node follows one log, {@link #TOPIC}: each writes a heartbeat to it, and who enters and leaves. So each node
 * has the others' members in memory, in their order. A node that has just begun, or has missed some of that log, asks,
 * and every other node writes down all its members. A node that is silent for the timeout, while the engine could be
 * reached, is taken for dead, and its members have left; if it speaks again, it is asked for its members.
 *
 * <p>The lock guards the maps. It is held while a record is handed to the engine, so that the log has the changes of a
 * node in the order in which they were made; no user code runs under it.
 */
final class Membership implements Subscriber {
    /** No topic of a user begins so. */
    static final String TOPIC = "$nodes";

    private static final int BEATS_IN_TIMEOUT = 4;
    private static final int MOST_IN_A_RECORD = 200;
    private static final int LOOK_BACK = 200;

    private static final byte BEAT = 1;
    private static final byte BYE = 2;
    private static final byte WHO = 3;
    private static final byte HERE = 4;
    private static final byte ENTER = 5;
    private static final byte LEAVE = 6;

    private final Backplane backplane;
    private final long timeoutNanos;

    private final Object lock = new Object();
    /** How often each name has entered each topic here. */
    private final Map<String, Map<String, Integer>> here = new HashMap<>();

    private final Map<String, Others> others = new HashMap<>();
    /** Nodes that have written to the log before this one began, and since when they have to be heard of again. */
    private final Map<String, Long> unheard = new HashMap<>();

    private boolean lookedBack;
    /** Whether this node has said that it ends: nothing is told after that. */
    private boolean over;

    /** Another node. */
    private static final class Others {
        final Map<String, Set<String>> members = new HashMap<>();
        /** The parts of a complete list that have come. */
        final Map<String, Set<String>> listed = new HashMap<>();
        /** Whether none of them is missing so far. */
        boolean listing;

        long heardAt;
        /** Whether it has told who is there. */
        boolean known;
    }

    Membership(Backplane backplane, Duration timeout) {
        this.backplane = backplane;
        this.timeoutNanos = timeout.toNanos();
    }

    /** Begins to beat. */
    void start() {
        backplane.every(Duration.ofNanos(timeoutNanos / BEATS_IN_TIMEOUT), this::beat);
    }

    // ---- What happens here ----

    void enter(String topic, String name) {
        synchronized (lock) {
            int times = here.computeIfAbsent(topic, none -> new HashMap<>()).merge(name, 1, Integer::sum);
            if (times > 1) {
                return;
            }
            write(ENTER, topic, name);
        }
        backplane.tellPresence(topic, new Member(backplane.node(), name), true);
    }

    void leave(String topic, String name) {
        synchronized (lock) {
            Map<String, Integer> names = here.get(topic);
            if (names == null || names.computeIfPresent(name, (same, times) -> times == 1 ? null : times - 1) != null) {
                return;
            }
            if (names.isEmpty()) {
                here.remove(topic);
            }
            write(LEAVE, topic, name);
        }
        backplane.tellPresence(topic, new Member(backplane.node(), name), false);
    }

    List<Member> members(String topic) {
        Set<Member> all = new TreeSet<>();
        synchronized (lock) {
            here.getOrDefault(topic, Map.of()).keySet().forEach(name -> all.add(new Member(backplane.node(), name)));
            others.forEach((node, other) ->
                    other.members.getOrDefault(topic, Set.of()).forEach(name -> all.add(new Member(node, name))));
        }
        return List.copyOf(all);
    }

    Set<String> nodes() {
        synchronized (lock) {
            Set<String> all = new TreeSet<>(others.keySet());
            all.add(backplane.node());
            return all;
        }
    }

    /** The engine is there again: silence while it was away says nothing about a node. */
    void connected() {
        synchronized (lock) {
            long now = backplane.now();
            others.values().forEach(other -> other.heardAt = now);
            unheard.replaceAll((node, since) -> now);
            writeAll(); // changes are not written while it is away
            write(WHO, "", "");
            if (lookedBack) {
                return;
            }
            lookedBack = true;
        }
        lookBack();
    }

    /**
     * A node that was killed is buried by the others. If there was no other, its mailbox is left: so whoever begins looks
     * which nodes were there, and clears up behind those that are not heard of.
     */
    private void lookBack() {
        var ignored = backplane.engine().last(TOPIC, LOOK_BACK).whenComplete((page, failure) -> {
            synchronized (lock) {
                if (failure != null) {
                    lookedBack = false; // the next connection does it
                    return;
                }
                long now = backplane.now();
                for (StoredRecord stored : page.records()) {
                    String node = publisher(stored);
                    if (!node.isEmpty() && !node.equals(backplane.node()) && !others.containsKey(node)) {
                        unheard.put(node, now);
                    }
                }
            }
        });
    }

    private static String publisher(StoredRecord stored) {
        try {
            return Envelope.read(stored.bytes()).node();
        } catch (IllegalArgumentException e) {
            return ""; // the feed reports what is not ours
        }
    }

    void bye() {
        synchronized (lock) {
            write(BYE, "", "");
            over = true;
        }
    }

    private void beat() {
        if (!backplane.isConnected()) {
            return;
        }
        List<String> dead = new ArrayList<>();
        synchronized (lock) {
            write(BEAT, "", "");
            long now = backplane.now();
            others.forEach((node, other) -> {
                if (now - other.heardAt > timeoutNanos) {
                    dead.add(node);
                }
            });
            unheard.forEach((node, since) -> {
                if (now - since > timeoutNanos) {
                    dead.add(node);
                }
            });
            dead.forEach(unheard::remove);
        }
        for (String node : dead) {
            bury(node);
            backplane.removeMailbox(node);
        }
    }

    private void bury(String node) {
        Others other;
        synchronized (lock) {
            other = others.remove(node);
        }
        if (other != null) {
            other.members.forEach((topic, names) ->
                    names.forEach(name -> backplane.tellPresence(topic, new Member(node, name), false)));
        }
    }

    // ---- What happens elsewhere ----

    @Override
    public void onGap(Gap gap) {
        synchronized (lock) {
            others.values().forEach(other -> other.listing = false);
            write(WHO, "", "");
        }
    }

    @Override
    public void onMessage(Message message) throws IOException {
        String node = message.node();
        if (node.equals(backplane.node())) {
            return;
        }
        byte[] bytes = new byte[message.data().remaining()];
        message.data().get(bytes);
        List<Change> changes = new ArrayList<>();
        boolean gone;
        synchronized (lock) {
            gone = read(node, new DataInputStream(new ByteArrayInputStream(bytes)), changes);
        }
        changes.forEach(change -> backplane.tellPresence(change.topic, new Member(node, change.name), change.entered));
        if (gone) {
            bury(node);
        }
    }

    private record Change(String topic, String name, boolean entered) {}

    /** Under the lock. Returns whether the node has ended. */
    private boolean read(String node, DataInputStream in, List<Change> changes) throws IOException {
        byte kind = in.readByte();
        unheard.remove(node);
        if (kind == BYE) {
            return true;
        }
        Others other = others.computeIfAbsent(node, unheard -> new Others());
        other.heardAt = backplane.now();
        switch (kind) {
            case BEAT -> {
                if (!other.known) {
                    write(WHO, node, "");
                }
            }
            case WHO -> {
                String asked = in.readUTF();
                if (asked.isEmpty() || asked.equals(backplane.node())) {
                    writeAll();
                }
                if (!other.known && asked.isEmpty()) {
                    write(WHO, node, "");
                }
            }
            case HERE -> {
                if (in.readBoolean()) {
                    other.listed.clear();
                    other.listing = true;
                }
                boolean last = in.readBoolean();
                readMembers(in, other.listed);
                if (last && other.listing) { // else it was asked again
                    other.listing = false;
                    other.known = true;
                    replace(other, changes);
                }
            }
            case ENTER -> add(other, in.readUTF(), in.readUTF(), changes);
            case LEAVE -> {
                String topic = in.readUTF();
                String name = in.readUTF();
                Set<String> names = other.members.getOrDefault(topic, Set.of());
                if (names.remove(name)) {
                    changes.add(new Change(topic, name, false));
                    if (names.isEmpty()) {
                        other.members.remove(topic);
                    }
                }
            }
            default -> throw new IOException("a record of an unknown kind, " + kind + ", of node " + node);
        }
        return false;
    }

    private static void add(Others other, String topic, String name, List<Change> changes) {
        if (other.members.computeIfAbsent(topic, none -> new HashSet<>()).add(name)) {
            changes.add(new Change(topic, name, true));
        }
    }

    /** A list is complete: it counts from now on. */
    private static void replace(Others other, List<Change> changes) {
        compare(other.members, other.listed, false, changes);
        compare(other.listed, other.members, true, changes);
        other.members.clear();
        other.members.putAll(other.listed);
        other.listed.clear();
    }

    /** Adds what only the first one has. */
    private static void compare(
            Map<String, Set<String>> one, Map<String, Set<String>> two, boolean entered, List<Change> changes) {
        one.forEach((topic, names) -> names.forEach(name -> {
            if (!two.getOrDefault(topic, Set.of()).contains(name)) {
                changes.add(new Change(topic, name, entered));
            }
        }));
    }

    private static void readMembers(DataInputStream in, Map<String, Set<String>> members) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            members.computeIfAbsent(in.readUTF(), none -> new HashSet<>()).add(in.readUTF());
        }
    }

    // ---- Records ----

    /** Under the lock, as all that is written. */
    private void write(byte kind, String first, String second) {
        if (over) {
            return;
        }
        backplane.append(TOPIC, bytes(out -> {
            out.writeByte(kind);
            out.writeUTF(first);
            out.writeUTF(second);
        }));
    }

    private void writeAll() {
        if (over) {
            return;
        }
        List<Change> all = new ArrayList<>();
        here.forEach((topic, names) -> names.keySet().forEach(name -> all.add(new Change(topic, name, true))));
        int from = 0;
        do {
            List<Change> part = all.subList(from, Math.min(all.size(), from + MOST_IN_A_RECORD));
            boolean first = from == 0;
            from += part.size();
            boolean last = from == all.size();
            backplane.append(TOPIC, bytes(out -> {
                out.writeByte(HERE);
                out.writeBoolean(first);
                out.writeBoolean(last);
                out.writeInt(part.size());
                for (Change member : part) {
                    out.writeUTF(member.topic);
                    out.writeUTF(member.name);
                }
            }));
        } while (from < all.size());
    }

    private interface Fields {
        void write(DataOutputStream out) throws IOException;
    }

    private static ByteBuffer bytes(Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            fields.write(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a name of more than 64 KiB, which enter() has refused
        }
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    @Override
    public String toString() {
        return "membership of " + backplane;
    }
}
