package io.millrace.server.secure;

import io.millrace.server.tls.TlsTruncatedException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import javax.net.ssl.SSLException;

/**
 * A session of TLS between our end and an engine of the JDK, of which what the engine sends is changed somewhere: in its
 * handshake or later. One seed, one session. It throws if our end does anything but go on or end in order:
 *
 * <ul>
 *   <li>no exception escapes from a call of the transport;
 *   <li>what the connection is told is a beginning of what the peer sent, and nothing follows an end;
 *   <li>the buffers of a connection stay small;
 *   <li>once nothing more arrives, and once the deadline of the handshake has passed, the connection is over;
 *   <li>an alert that the peer gets fits what was done, and a regular end is never announced for a broken session.
 * </ul>
 */
final class TlsFuzz {
    /** What is done to the bytes of the peer. */
    enum Change {
        NOTHING,
        FLIP_HEADER,
        FLIP_BODY,
        FLIP_ANYWHERE,
        DROP_RECORD,
        DROP_BYTES,
        DUPLICATE,
        REORDER,
        TRUNCATE,
        OVERSIZE,
        PLAINTEXT,
        INSERT_NOISE,
        EMPTY_RECORDS,
        KEY_UPDATES,
        WARNINGS,
        CHANGES_OF_CIPHER,
        CUT_OFF,
        NOISE_ONLY
    }

    /**
     * Names of alerts that no valid judgement of a peer's bytes leads to. But the engine calls some broken messages of a
     * handshake, and what is no record, an internal error, and we leave it at that.
     */
    private static final Set<String> WRONG_ALERTS = Set.of("internal_error", "certificate_expired", "access_denied");

    private static final Map<String, TlsSettings> SETTINGS = Map.of(
            "server TLSv1.3", TestKeys.SHARED.server("TLSv1.3"),
            "server TLSv1.2", TestKeys.SHARED.server("TLSv1.2"),
            "client TLSv1.3", TestKeys.SHARED.client("TLSv1.3"),
            "client TLSv1.2", TestKeys.SHARED.client("TLSv1.2"));

    /** How the sessions ended, to see that the changes do something. */
    static final class Tally {
        final Map<Change, int[]> byChange = new EnumMap<>(Change.class);
        final Map<String, Integer> alerts = new java.util.TreeMap<>();

        private void add(Change change, int outcome) {
            byChange.computeIfAbsent(change, same -> new int[4])[outcome]++;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder("change: whole, ended, failed after, failed in the handshake\n");
            byChange.forEach((change, counts) -> text.append(change)
                    .append(": ")
                    .append(Arrays.toString(counts))
                    .append('\n'));
            return text.append("alerts: ").append(alerts).toString();
        }
    }

    private final Random random;
    private final OneThreadLoop loop = new OneThreadLoop();
    private final Change change;
    private final boolean early;
    private final boolean server;
    private final String version;
    private final TlsEnds ends;
    private final ByteArrayOutputStream fromPeer = new ByteArrayOutputStream();
    private final List<ByteBuffer> toSend = new ArrayList<>();
    private boolean changed;
    private boolean pauses;
    private boolean slow;
    /** What the peer says of our bytes. */
    private SSLException peerFailure;

    private int flights;

    TlsFuzz(long seed) throws IOException {
        random = new Random(seed);
        for (int i = 0; i < 5; i++) {
            random.nextInt(); // neighbouring seeds begin alike
        }
        change = Change.values()[random.nextInt(Change.values().length)];
        server = random.nextInt(4) > 0;
        version = random.nextBoolean() ? "TLSv1.3" : "TLSv1.2";
        early = random.nextInt(3) == 0;
        slow = random.nextInt(4) == 0;
        pauses = random.nextInt(4) == 0;
        RecordingSink sink = new RecordingSink() {
            @Override
            public void onReceived(ByteBuffer data) {
                ByteBuffer copy = ByteBuffer.allocate(data.remaining());
                copy.put(data.duplicate()).flip();
                super.onReceived(data);
                if (random.nextBoolean()) {
                    toSend.add(copy);
                }
                if (pauses && random.nextInt(3) == 0) {
                    ends.tls.pause();
                    loop.execute(ends.tls::resume);
                }
            }

            @Override
            public void onWritable() {
                super.onWritable();
                flush();
            }
        };
        ends = new TlsEnds(loop, server, version, SETTINGS.get((server ? "server " : "client ") + version), sink);
    }

    /** Sends what the connection has to send, as a connection does. */
    private void flush() {
        try {
            while (!toSend.isEmpty() && !ends.tls.isClosed()) {
                if (!ends.tls.send(toSend.getFirst())) {
                    return;
                }
                toSend.removeFirst();
            }
        } catch (IOException e) {
            toSend.clear(); // it is broken, and a connection would close it
        }
    }

    // ---- The session ----

    void run(Tally tally) throws IOException {
        ends.tls.onConnected();
        loop.run();
        if (slow) {
            ends.raw.room = random.nextInt(200);
        }
        if (change == Change.NOISE_ONLY) {
            byte[] noise = new byte[1 + random.nextInt(600)];
            random.nextBytes(noise);
            if (random.nextBoolean()) {
                noise[0] = (byte) (20 + random.nextInt(4));
                if (noise.length > 4) {
                    noise[1] = 3;
                    noise[3] = 0;
                }
            }
            changed = true;
            arrive(noise);
        } else {
            handshake();
            data();
        }
        settle();
        judge(tally);
    }

    private void handshake() throws IOException {
        int changedFlight = early ? random.nextInt(version.equals("TLSv1.3") || !server ? 2 : 3) : -1;
        byte[] next = server ? ends.peer.begin() : answer();
        while (next.length > 0 && !ends.tls.isClosed()) {
            if (flights++ == changedFlight) {
                next = mutate(next);
            }
            arrive(next);
            next = answer();
        }
    }

    /** Gives the peer what we have sent. */
    private byte[] answer() {
        for (int i = 0; i < 10_000 && ends.raw.full && !ends.raw.closed; i++) {
            ends.raw.open(1 + random.nextInt(5_000));
        }
        if (peerFailure != null) {
            return new byte[0];
        }
        try {
            return ends.peer.take(ends.raw.takeSent());
        } catch (SSLException e) {
            peerFailure = e;
            return new byte[0];
        }
    }

    private void data() throws IOException {
        if (early || ends.sink.connected == 0 || ends.tls.isClosed()) {
            return;
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int pieces = 1 + random.nextInt(4);
        for (int i = 0; i < pieces; i++) {
            byte[] piece = new byte[1 + (random.nextInt(10) == 0 ? random.nextInt(40_000) : random.nextInt(300))];
            random.nextBytes(piece);
            fromPeer.writeBytes(piece);
            all.writeBytes(ends.peer.encrypt(piece));
        }
        if (random.nextBoolean()) {
            all.writeBytes(ends.peer.close());
        }
        arrive(mutate(all.toByteArray()));
        for (int i = 0; i < 10; i++) {
            byte[] next = answer();
            if (next.length == 0) {
                break;
            }
            arrive(next);
        }
    }

    private void arrive(byte[] bytes) {
        int at = 0;
        int most = random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 1 + random.nextInt(70_000);
        while (at < bytes.length) {
            int count = Math.min(bytes.length - at, most);
            ends.raw.arrive(Arrays.copyOfRange(bytes, at, at + count));
            at += count;
            if (random.nextInt(4) == 0) {
                turn();
            }
        }
        turn();
        if (ends.tls.ownBytes() > 3 * 70_000 + TlsTransport.MOST_OVERHEAD) {
            throw new AssertionError("it holds " + ends.tls.ownBytes() + " bytes: " + this);
        }
    }

    private void turn() {
        loop.run();
        flush();
        if (slow && random.nextBoolean()) {
            ends.raw.open(random.nextInt(2_000));
        }
        loop.run();
    }

    /** Lets it come to rest, then ends the input, then lets time pass. */
    private void settle() {
        ends.raw.end();
        slow = false;
        for (int i = 0; i < 20; i++) {
            ends.raw.open(Integer.MAX_VALUE);
            turn();
        }
        if (!ends.sink.isOver()) {
            loop.fire();
        }
        loop.run();
    }

    // ---- Changes ----

    private record Place(int at, int size) {}

    /** Finds the records; what is no record is the last one. */
    private static List<Place> records(byte[] bytes) {
        List<Place> found = new ArrayList<>();
        int at = 0;
        while (at + 5 <= bytes.length) {
            int size = 5 + ((bytes[at + 3] & 0xff) << 8 | (bytes[at + 4] & 0xff));
            found.add(new Place(at, Math.min(size, bytes.length - at)));
            at += size;
        }
        return found;
    }

    private byte[] mutate(byte[] original) throws IOException {
        List<Place> all = records(original);
        Place one = all.get(random.nextInt(all.size()));
        byte[] bytes = original.clone();
        changed = change != Change.NOTHING;
        switch (change) {
            case NOTHING, NOISE_ONLY -> {}
            case FLIP_HEADER -> bytes[one.at + random.nextInt(5)] ^= (byte) (1 << random.nextInt(8));
            case FLIP_BODY -> {
                if (one.size > 5) {
                    bytes[one.at + 5 + random.nextInt(one.size - 5)] ^= (byte) (1 + random.nextInt(255));
                }
            }
            case FLIP_ANYWHERE -> {
                for (int i = random.nextInt(5); i >= 0; i--) {
                    bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
                }
            }
            case DROP_RECORD -> bytes = without(bytes, one.at, one.size);
            case DROP_BYTES -> {
                int at = random.nextInt(bytes.length);
                bytes = without(bytes, at, 1 + random.nextInt(Math.min(40, bytes.length - at)));
            }
            case DUPLICATE -> bytes = with(bytes, one.at, Arrays.copyOfRange(bytes, one.at, one.at + one.size));
            case REORDER -> {
                byte[] moved = Arrays.copyOfRange(bytes, one.at, one.at + one.size);
                byte[] rest = without(bytes, one.at, one.size);
                List<Place> others = records(rest);
                bytes = others.isEmpty() ? bytes : with(rest, others.get(random.nextInt(others.size())).at, moved);
                changed = !Arrays.equals(bytes, original);
            }
            case TRUNCATE -> {
                // The record says that it is shorter than it is, or is.
                int size = one.size - 5 - random.nextInt(Math.max(1, one.size - 5)) - 1;
                if (size >= 0) {
                    bytes[one.at + 3] = (byte) (size >> 8);
                    bytes[one.at + 4] = (byte) size;
                    if (random.nextBoolean()) {
                        bytes = without(bytes, one.at + 5 + size, one.size - 5 - size);
                    }
                }
            }
            case OVERSIZE -> {
                int size =
                        random.nextBoolean() ? 0x4800 + random.nextInt(0xb7ff) : one.size - 5 + 1 + random.nextInt(99);
                bytes[one.at + 3] = (byte) (size >> 8);
                bytes[one.at + 4] = (byte) size;
                if (random.nextBoolean()) {
                    bytes = with(bytes, one.at + one.size, new byte[Math.max(0, size - one.size + 5)]);
                }
            }
            case PLAINTEXT -> {
                byte[] text = "GET / HTTP/1.1\r\n\r\n".getBytes();
                bytes = with(
                        bytes,
                        one.at,
                        random.nextBoolean()
                                ? text
                                : concat(new byte[] {(byte) (20 + random.nextInt(4)), 3, 3, 0, 18}, text));
            }
            case INSERT_NOISE -> {
                byte[] noise = new byte[1 + random.nextInt(100)];
                random.nextBytes(noise);
                bytes = with(bytes, random.nextBoolean() ? one.at : random.nextInt(bytes.length), noise);
            }
            case EMPTY_RECORDS -> {
                ByteArrayOutputStream flood = new ByteArrayOutputStream();
                int count = 1 + random.nextInt(300);
                for (int i = 0; i < count; i++) {
                    flood.writeBytes(new byte[] {(byte) (20 + random.nextInt(4)), 3, 3, 0, 0});
                }
                bytes = with(bytes, one.at, flood.toByteArray());
            }
            case KEY_UPDATES -> {
                ByteArrayOutputStream flood = new ByteArrayOutputStream();
                for (int i = random.nextInt(300); i >= 0 && !early && canUpdate(); i--) {
                    flood.writeBytes(ends.peer.updateKeys());
                }
                bytes = concat(bytes, flood.toByteArray());
                changed = flood.size() > 0;
            }
            case WARNINGS -> {
                byte[] alert = {21, 3, 3, 0, 2, 1, (byte) (random.nextBoolean() ? 90 : random.nextInt(120))};
                ByteArrayOutputStream flood = new ByteArrayOutputStream();
                for (int i = random.nextInt(300); i >= 0; i--) {
                    flood.writeBytes(alert);
                }
                bytes = with(bytes, one.at, flood.toByteArray());
            }
            case CHANGES_OF_CIPHER -> {
                ByteArrayOutputStream flood = new ByteArrayOutputStream();
                for (int i = random.nextInt(300); i >= 0; i--) {
                    flood.writeBytes(new byte[] {20, 3, 3, 0, 1, 1});
                }
                bytes = with(bytes, one.at, flood.toByteArray());
            }
            case CUT_OFF -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        return bytes;
    }

    private boolean canUpdate() {
        return version.equals("TLSv1.3") && !ends.peer.engine.isOutboundDone();
    }

    private static byte[] without(byte[] bytes, int at, int count) {
        return concat(Arrays.copyOf(bytes, at), Arrays.copyOfRange(bytes, at + count, bytes.length));
    }

    private static byte[] with(byte[] bytes, int at, byte[] added) {
        return concat(Arrays.copyOf(bytes, at), concat(added, Arrays.copyOfRange(bytes, at, bytes.length)));
    }

    private static byte[] concat(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }

    // ---- The judgement ----

    private void judge(Tally tally) {
        RecordingSink sink = ends.sink;
        if (!sink.isOver()) {
            throw new AssertionError("stuck: " + this);
        }
        byte[] got = sink.received.toByteArray();
        byte[] meant = fromPeer.toByteArray();
        if (got.length > meant.length || !Arrays.equals(got, Arrays.copyOf(meant, got.length))) {
            throw new AssertionError("it delivered what the peer did not send: " + this);
        }
        if (sink.failure != null && !ends.raw.closed) {
            throw new AssertionError("failed, but not closed: " + this);
        }
        if (loop.alarms() > 0) {
            throw new AssertionError("its deadline stays: " + this);
        }
        if (sink.failure == null ? ends.tls.ownBytes() > 0 && !ends.raw.full : ends.tls.ownBytes() > 0) {
            throw new AssertionError("it keeps " + ends.tls.ownBytes() + " bytes: " + this);
        }
        if (!changed) {
            boolean announced = ends.peer.engine.isOutboundDone();
            if (announced
                    ? sink.endings != 1 || got.length != meant.length
                    : !(sink.failure instanceof TlsTruncatedException)) {
                throw new AssertionError("a valid session failed: " + this, sink.failure);
            }
        }
        answer();
        String alert = alert();
        if (alert != null) {
            tally.alerts.merge(alert, 1, Integer::sum);
        }
        checkAlert(alert);
        int outcome = sink.endings > 0 ? (got.length == meant.length ? 0 : 1) : sink.connected > 0 ? 2 : 3;
        tally.add(change, outcome);
    }

    /** Which fatal alert the peer has got. */
    private String alert() {
        String message = peerFailure == null ? null : String.valueOf(peerFailure.getMessage());
        String begins = "Received fatal alert: ";
        String shorter = "(";
        if (message == null || !message.contains(begins.strip())) {
            return message != null && message.startsWith(shorter) ? message.substring(1, message.indexOf(')')) : null;
        }
        String after = message.substring(message.indexOf(begins) + begins.length());
        return after.split("[ .,)]")[0];
    }

    private void checkAlert(String alert) {
        RecordingSink sink = ends.sink;
        if (sink.failure != null
                && ends.peer.ended
                && changed
                && sink.failure instanceof SSLException
                && !(sink.failure instanceof TlsTruncatedException)
                && version.equals("TLSv1.3")) {
            throw new AssertionError("a broken session was announced as a regular end: " + this);
        }
        if (alert == null) {
            return;
        }
        if (WRONG_ALERTS.contains(alert) && sink.connected > 0 && !isNoRecord(sink.failure)) {
            throw new AssertionError("wrong alert " + alert + ": " + this, sink.failure);
        }
        if (change == Change.FLIP_BODY && !early && !alert.equals("bad_record_mac")) {
            throw new AssertionError("a changed record is answered by " + alert + ": " + this, sink.failure);
        }
    }

    /** Whether the engine says that the beginning of a record is none, which it calls an internal error. */
    private static boolean isNoRecord(IOException failure) {
        String message = String.valueOf(failure == null ? null : failure.getMessage());
        return message.startsWith("Unrecognized record version") || message.startsWith("Unsupported or unrecognized");
    }

    @Override
    public String toString() {
        return change + (early ? " early, " : ", ") + (server ? "server " : "client ") + version + ", " + flights
                + " flights; " + ends.sink + "; peer: " + peerFailure;
    }
}
