package io.millrace.server.secure;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.server.support.LimitAccess;
import io.millrace.server.tls.TlsSession;
import io.millrace.server.tls.TlsTruncatedException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * TLS between a connection and its transport: to the connection it is the transport, and to the transport it is the
 * connection. Neither knows. It belongs to the loop; only what a handshake computes runs elsewhere.
 *
 * <h2>Sending</h2>
 *
 * Bytes count as sent when the system has taken their ciphertext. So what was encrypted but not taken is kept here, and
 * its plaintext stays with the caller, which counts it towards its limits as if nothing had been encrypted. When the
 * system has taken the ciphertext, the caller is told that there is room and sends the same bytes again, which are then
 * skipped. The caller keeps them in order and drops none, so they are the same. Of the ciphertext that is kept,
 *
 * <pre>held.remaining() == overhead + inFlight</pre>
 *
 * where {@code overhead} is what stands for no byte of the caller's. Bytes that the system takes count as overhead
 * first; so no byte is counted as sent too early, and a peer that takes a little makes a little progress.
 *
 * <h2>Receiving</h2>
 *
 * What the transport has read is copied to the heap, where the engine works best, and decrypted from there: as many whole
 * records as fit, into another buffer of the loop. A connection keeps only the beginning of an incomplete record, and
 * whatever is left if it is paused in the middle. So one that is silent between two records holds no buffer.
 *
 * <h2>The handshake</h2>
 *
 * The connection hears of nothing before it is complete; then {@link TransportSink#onConnected} is called, on servers,
 * too. While something is computed elsewhere, nothing is read.
 */
public final class TlsTransport implements StreamTransport, TransportSink {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** How many bytes are read at once: a few records; or, if each connection has its own buffer, less than one. */
    static final int SHARED_READ = 64 * 1024;

    private static final int OWN_READ = 8 * 1024;

    /** The header of a record: its type, a version, and its length. */
    private static final int HEADER = 5;

    private static final int HANDSHAKE = 22;

    /** Alerts, as they are sent before anything is encrypted. */
    private static final byte[] UNEXPECTED_MESSAGE = {21, 3, 3, 0, 2, 2, 10};

    private static final byte[] RECORD_OVERFLOW = {21, 3, 3, 0, 2, 2, 22};

    /** More than the longest record that TLS 1.2 allows, which is longer than that of TLS 1.3. */
    private static final int LONGEST_RECORD = (1 << 14) + 2048;

    /** If the peer does not take this much of what we have to answer, it is not read. */
    static final int MOST_OVERHEAD = 64 * 1024;

    /** The longest handshake, in bytes received: several times as long as any with chains of certificates. */
    static final int LONGEST_HANDSHAKE = 256 * 1024;

    /**
     * What a record of a handshake counts at least. The engine copies what it has of a message for each further record of
     * it: a message of 32 KiB in records of one byte would have it allocate a gigabyte. Peers make them this long or longer.
     */
    static final int LEAST_RECORD = 512;

    /**
     * How many records without data, such as updates of keys, warnings and empty ones, a peer may send within a second,
     * whatever it sends between them. Each of them costs us much more than it costs the peer: an update of keys takes as
     * long as fifteen small records.
     */
    static final int MOST_SILENT = 100;

    private static final long SILENCE_NANOS = 1_000_000_000;

    /** How long a connection that is closed waits for the system to take its last words. */
    private static final long PARTING_NANOS = 1_000_000_000;

    /** How often the engine may take nothing of a whole record in a row. It wants other steps first, but never so many. */
    private static final int MOST_STALLS = 16;

    private final ServerLoop loop;
    private final TransportSink sink;
    private final InetSocketAddress peer;
    private final TlsSettings settings;
    private final SSLEngine engine;
    private final LoopBuffers buffers;
    private final int pieceSize;

    private @Nullable StreamTransport raw;
    private @Nullable AlarmKey deadline;
    private @Nullable TlsSession session;

    private boolean begun;
    private boolean established;
    /** How many bytes the handshake has taken so far. */
    private int handshakeBytes;
    /** How many records without data came since when; within a second. */
    private int silentRecords;

    private long silentSince;
    private int stalls;
    /** Whether handshakes after the first one are refused: TLS 1.3 has none, and other messages of that kind. */
    private boolean refusesHandshakes;
    /** Whether a part of the handshake is computed elsewhere. */
    private boolean computing;

    private boolean paused;
    /** Whether the transport below is read. */
    private boolean reading = true;

    private boolean draining;
    /** Whether the peer has said that no more follows, and whether the connection must still be told. */
    private boolean inputEnded;

    private boolean endUntold;
    /** Whether we have said that no more follows, or cannot send for another reason. */
    private boolean outputEnded;

    private boolean outputEndsLater;
    /** Read by what computes, so that it does not begin for nothing. */
    private volatile boolean closed;
    /** Closed for the connection, but the system has not taken yet what tells the peer so. */
    private boolean parting;

    /** Ciphertext that the system has not taken. */
    private ByteBuffer held = NOTHING;

    private int overhead;
    private int inFlight;
    /** How many of the bytes that the caller sends next were already taken by the system. */
    private int confirmed;

    private long share = FILE_SHARE;
    private boolean sharing;

    /** Ciphertext that was received: an incomplete record; or any, if it is paused or computing. */
    private ByteBuffer kept = NOTHING;
    /** What was decrypted and not delivered, because the connection was paused meanwhile. */
    private ByteBuffer undelivered = NOTHING;

    TlsTransport(
            ServerLoop loop,
            TransportSink sink,
            InetSocketAddress peer,
            int pieceSize,
            TlsSettings settings,
            @Nullable InetSocketAddress target)
            throws IOException {
        this.loop = loop;
        this.sink = sink;
        this.peer = peer;
        this.settings = settings;
        this.pieceSize = pieceSize;
        this.engine = settings.engine(target);
        this.buffers = LoopBuffers.of(loop);
    }

    /**
     * Takes over a connection, as {@link ServerLoop#attach} does. On the loop. {@link TransportSink#onConnected} is
     * called when the handshake is complete.
     *
     * @param peer who is there, for messages
     * @param target what a client connects to; null on a server
     */
    public static TlsTransport attach(
            ServerLoop loop,
            ByteStream stream,
            TransportSink sink,
            InetSocketAddress peer,
            int pieceSize,
            TlsSettings settings,
            @Nullable InetSocketAddress target)
            throws IOException {
        TlsTransport tls = new TlsTransport(loop, sink, peer, pieceSize, settings, target);
        boolean stands = stream.isConnected();
        tls.carry(loop.attach(stream, tls, loop.sharesBuffer() ? SHARED_READ : OWN_READ));
        if (stands) {
            // Not now: the sink must not be called before this returns.
            loop.atEndOfTurn(tls::begin);
        }
        return tls;
    }

    /** Sets the transport below, once. */
    void carry(StreamTransport below) {
        raw = below;
    }

    private StreamTransport raw() {
        return Objects.requireNonNull(raw);
    }

    /** Returns what was agreed. On the loop, from {@link TransportSink#onConnected} on. */
    public TlsSession session() {
        return Objects.requireNonNull(session);
    }

    // ---- The handshake ----

    @Override
    public void onConnected() {
        begin();
    }

    /** Begins the handshake: at the end of the turn or, if that has much to do, when the first bytes arrive. */
    private void begin() {
        if (closed || begun) {
            return;
        }
        begun = true;
        try {
            deadline = loop.schedule(settings.handshakeNanos(), this::timeUp);
            engine.beginHandshake();
            step();
            drain();
        } catch (RejectedExecutionException e) {
            // The loop is in its last turn, and ends this connection.
        } catch (SSLException | RuntimeException e) {
            fail(e);
        }
    }

    private void timeUp(boolean fired) {
        if (fired && !established) {
            deadline = null;
            fail(new SocketTimeoutException("the TLS handshake was not complete within "
                    + settings.handshakeNanos() / 1_000_000 + " ms; the peer may not speak TLS, or be slow"));
        }
    }

    /** Takes the next steps of a handshake, as far as they need no input. */
    private void step() throws SSLException {
        while (!closed && !computing) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> compute();
                case NEED_WRAP -> {
                    if (!wrapControl()) {
                        return;
                    }
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    return;
                }
                case NOT_HANDSHAKING, FINISHED -> {
                    if (!established) {
                        establish();
                    }
                    return;
                }
            }
        }
    }

    private void compute() {
        computing = true;
        updateReading();
        if (!loop.hasOtherThreads()) {
            loop.execute(this::runTasks);
        } else if (!settings.handshakes().submit(this::runTasks)) {
            fail(LimitAccess.turnedAway(
                    "turned a TLS handshake away: " + settings.handshakes()
                            + ", which is the limit; raise handshakeLimit, or wait until there are fewer",
                    peer));
        }
    }

    /** Elsewhere. */
    private void runTasks() {
        Throwable thrown = null;
        try {
            if (!closed) {
                for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                    task.run();
                }
            }
        } catch (Throwable e) {
            thrown = e;
        }
        Throwable failure = thrown;
        try {
            loop.execute(() -> goOn(failure));
        } catch (RejectedExecutionException e) {
            // The loop has ended, and the connection with it.
        }
    }

    private void goOn(@Nullable Throwable failure) {
        computing = false;
        if (closed) {
            return;
        }
        if (failure != null) {
            fail(new SSLHandshakeException("a step of the TLS handshake could not be computed: " + failure, failure));
            return;
        }
        try {
            step();
        } catch (SSLException | RuntimeException e) {
            fail(e);
            return;
        }
        drain();
    }

    private void establish() {
        established = true;
        cancelDeadline();
        TlsSession agreed = settings.session(engine);
        session = agreed;
        refusesHandshakes = agreed.protocol().equals("TLSv1.2");
        sink.onConnected();
        if (outputEndsLater && !closed) {
            outputEndsLater = false;
            closeOutput();
        }
    }

    private void cancelDeadline() {
        AlarmKey alarm = deadline;
        if (alarm != null) {
            deadline = null;
            loop.cancel(alarm);
        }
    }

    // ---- Receiving ----

    @Override
    public void onReceived(ByteBuffer data) {
        if (closed || inputEnded) {
            return;
        }
        if (!begun) {
            begin();
        }
        try {
            take(data);
        } catch (SSLException | RuntimeException e) {
            fail(e);
        }
        updateReading();
    }

    private void take(ByteBuffer data) throws SSLException {
        while (kept.hasRemaining()) {
            if (!mayDecrypt()) {
                keep(data, data.remaining());
                return;
            }
            if (!complete(data)) {
                return;
            }
            decrypt(kept);
            if (closed || inputEnded) {
                return;
            }
        }
        kept = NOTHING;
        ByteBuffer records = buffers.borrowOnHeap(data);
        try {
            decrypt(records);
            if (records.hasRemaining() && !closed && !inputEnded) {
                keep(records, records.remaining());
            }
        } finally {
            buffers.giveBack(records);
        }
    }

    /** Completes the record that has begun. Returns false if there were too few bytes. */
    private boolean complete(ByteBuffer data) {
        for (int missing = missing(kept); missing > 0; missing = missing(kept)) {
            if (!data.hasRemaining()) {
                return false;
            }
            keep(data, Math.min(missing, data.remaining()));
        }
        return true;
    }

    /** Copies bytes behind those that are kept. */
    private void keep(ByteBuffer data, int count) {
        int size = kept.remaining();
        int room = kept.capacity() - kept.limit();
        if (room < count) {
            // An incomplete record gets what it needs, and no more.
            int needed = Math.max(size + count, size >= HEADER ? size + missing(kept) : HEADER);
            kept = ByteBuffer.allocate(needed).put(kept).flip();
        }
        int end = kept.limit();
        kept.limit(end + count).put(end, data, data.position(), count);
        data.position(data.position() + count);
    }

    /**
     * Returns how many bytes are missing from the header of a record; or, if that is there, from the record. What is no
     * record is complete, so that the engine sees it and says so.
     */
    private static int missing(ByteBuffer from) {
        int size = from.remaining();
        int at = from.position();
        if (size < HEADER) {
            return size > 0 && !isType(from.get(at)) ? 0 : HEADER - size;
        }
        int length = (from.get(at + 3) & 0xff) << 8 | (from.get(at + 4) & 0xff);
        if (!isType(from.get(at)) || from.get(at + 1) != 3 || length > LONGEST_RECORD) {
            return 0;
        }
        return Math.max(0, HEADER + length - size);
    }

    /** Returns whether records of TLS begin with this: change of cipher, alert, handshake or data. */
    private static boolean isType(byte first) {
        return first >= 20 && first <= 23;
    }

    private boolean mayDecrypt() {
        return !computing && !undelivered.hasRemaining() && overhead <= MOST_OVERHEAD && !(established && paused);
    }

    /** Decrypts and delivers whole records, as far as it may. */
    private void decrypt(ByteBuffer from) throws SSLException {
        while (!closed && !inputEnded && from.hasRemaining() && mayDecrypt() && missing(from) == 0) {
            decryptSome(from);
        }
    }

    private void decryptSome(ByteBuffer from) throws SSLException {
        if (!established && !isType(from.get(from.position()))) {
            // Said here, because the engine would call this an internal error.
            outputEnded = true;
            sendControl(ByteBuffer.wrap(UNEXPECTED_MESSAGE));
            throw new SSLException("the peer does not speak TLS: it began with " + beginning(from));
        }
        boolean ended = false;
        HandshakeStatus last = HandshakeStatus.NEED_UNWRAP;
        int before = from.position();
        ByteBuffer plain = buffers.borrowPlain();
        try {
            boolean more = true;
            while (more) {
                if (refusesHandshakes && from.get(from.position()) == HANDSHAKE) {
                    throw refused("the peer asks for another handshake (renegotiation), which is refused");
                }
                SSLEngineResult result = engine.unwrap(from, plain);
                limit(result);
                last = result.getHandshakeStatus();
                more = switch (result.getStatus()) {
                    case OK ->
                        last == HandshakeStatus.NOT_HANDSHAKING
                                && plain.remaining() >= LoopBuffers.RECORD
                                && from.hasRemaining()
                                && missing(from) == 0;
                    case CLOSED -> {
                        ended = true;
                        yield false;
                    }
                    case BUFFER_OVERFLOW -> {
                        if (plain.position() == 0) {
                            throw refused("the peer sent a record that is too long");
                        }
                        yield false;
                    }
                    case BUFFER_UNDERFLOW -> {
                        // It says that it is longer than a record can be, and the engine would wait for the rest.
                        SSLException refused = refused("the peer sent what is no TLS record");
                        if (!established && handshakeBytes == 0) {
                            sendControl(ByteBuffer.wrap(RECORD_OVERFLOW));
                        }
                        throw refused;
                    }
                };
            }
            if (plain.position() > 0) {
                deliver(plain.flip());
            }
        } finally {
            buffers.giveBack(plain);
        }
        if (!established || last != HandshakeStatus.NOT_HANDSHAKING) {
            step();
        }
        if (ended && !closed) {
            endInput();
        } else if (from.position() != before || computing) {
            stalls = 0;
        } else if (++stalls > MOST_STALLS) {
            throw refused("the engine does not go on with what the peer sent: " + engine.getHandshakeStatus());
        }
    }

    /** Ends a connection whose peer makes us work for nothing. */
    private void limit(SSLEngineResult result) throws SSLException {
        if (!established) {
            if (result.bytesConsumed() > 0) {
                handshakeBytes += Math.max(LEAST_RECORD, result.bytesConsumed());
            }
            if (handshakeBytes > LONGEST_HANDSHAKE) {
                throw refused(
                        "the peer's handshake is longer than " + LONGEST_HANDSHAKE + " bytes, as which each record"
                                + " counts at least " + LEAST_RECORD + "; its chain of certificates may be too long");
            }
        } else if (result.bytesProduced() == 0 && result.bytesConsumed() > 0) {
            long now = loop.now();
            if (silentRecords == 0 || now - silentSince > SILENCE_NANOS) {
                silentRecords = 0;
                silentSince = now;
            }
            if (++silentRecords > MOST_SILENT) {
                throw refused("the peer sent more than " + MOST_SILENT + " records without data within a second");
            }
        }
    }

    /**
     * Returns why we end a connection that the engine would go on with. The engine would only announce a regular end to
     * the peer, which might take what it got for the whole; so the peer is told nothing.
     */
    private SSLException refused(String why) {
        outputEnded = true;
        held = NOTHING;
        overhead = 0;
        return new SSLException(why);
    }

    /** Returns the first bytes as text, if they are text. */
    private static String beginning(ByteBuffer from) {
        StringBuilder text = new StringBuilder("\"");
        for (int i = from.position(); i < Math.min(from.limit(), from.position() + 16); i++) {
            byte next = from.get(i);
            if (next < ' ' || next == 127) {
                break;
            }
            text.append((char) next);
        }
        return text.length() > 1 ? text.append('"').toString() : "byte " + (from.get(from.position()) & 0xff);
    }

    private void deliver(ByteBuffer plain) {
        while (!closed && plain.remaining() > pieceSize) {
            if (paused) {
                leave(plain);
                return;
            }
            int at = plain.position();
            sink.onReceived(plain.slice(at, pieceSize));
            plain.position(at + pieceSize);
        }
        if (paused) {
            leave(plain);
        } else if (!closed) {
            sink.onReceived(plain);
        }
    }

    private void leave(ByteBuffer plain) {
        undelivered = ByteBuffer.allocate(plain.remaining()).put(plain).flip();
    }

    private void endInput() {
        inputEnded = true;
        kept = NOTHING;
        endUntold = true;
        if (refusesHandshakes) {
            outputEnded = true; // TLS 1.2 has no half close: the engine has answered, and sends no more
        }
        tellEnd();
    }

    private void tellEnd() {
        if (endUntold && !paused && !undelivered.hasRemaining() && !closed) {
            endUntold = false;
            sink.onEndOfInput();
        }
    }

    /** The transport has ended. If the peer did not say so before, somebody else may have ended it. */
    @Override
    public void onEndOfInput() {
        if (closed || inputEnded) {
            return;
        }
        if (!established) {
            outputEnded = true; // nothing was sent whose end could be announced
            fail(new SSLHandshakeException("the peer closed the connection during the TLS handshake"));
        } else {
            fail(new TlsTruncatedException("the input has ended, but the peer did not say so by close_notify; some of"
                    + " what it sent may have been cut off"));
        }
    }

    @Override
    public void pause() {
        paused = true;
        updateReading();
    }

    @Override
    public void resume() {
        if (paused) {
            paused = false;
            if (kept.hasRemaining() || undelivered.hasRemaining() || endUntold) {
                if (!draining) {
                    draining = true;
                    loop.atEndOfTurn(this::drain);
                }
            } else {
                updateReading();
            }
        }
    }

    /** Delivers what was kept. */
    private void drain() {
        draining = false;
        if (closed) {
            return;
        }
        if (undelivered.hasRemaining() && !paused) {
            ByteBuffer plain = undelivered;
            undelivered = NOTHING;
            deliver(plain);
        }
        if (kept.hasRemaining() && !closed) {
            try {
                decrypt(kept);
            } catch (SSLException | RuntimeException e) {
                fail(e);
                return;
            }
            if (!kept.hasRemaining()) {
                kept = NOTHING;
            }
        }
        tellEnd();
        updateReading();
    }

    /** Reads the transport below if what it brings could be decrypted. */
    private void updateReading() {
        boolean wanted = mayDecrypt();
        if (wanted != reading && !closed) {
            reading = wanted;
            if (wanted) {
                raw().resume();
            } else {
                raw().pause();
            }
        }
    }

    @Override
    public boolean hasInput() {
        return undelivered.hasRemaining()
                || (kept.hasRemaining() && missing(kept) == 0)
                || (!inputEnded && raw().hasInput());
    }

    @Override
    public void readNow() {
        if (!closed && established && !paused) {
            drain();
            if (!closed) {
                raw().readNow();
            }
        }
    }

    // ---- Sending ----

    @Override
    public boolean send(ByteBuffer buffer) throws IOException {
        ByteBuffer[] one = buffers.one(buffer);
        try {
            return send(one, 0, 1);
        } finally {
            buffers.clearOne();
        }
    }

    @Override
    public boolean send(ByteBuffer[] from, int first, int count) throws IOException {
        int end = first + count;
        int at = first;
        for (; ; ) {
            while (at < end && !skipSent(from[at])) {
                at++;
            }
            if (at == end) {
                return true;
            }
            if (held.hasRemaining()) {
                return false;
            }
            encrypt(from, at, end);
        }
    }

    /** Skips what the system has taken already. Returns whether something is left. */
    private boolean skipSent(ByteBuffer buffer) {
        if (confirmed > 0) {
            int skipped = Math.min(confirmed, buffer.remaining());
            buffer.position(buffer.position() + skipped);
            confirmed -= skipped;
        }
        return buffer.hasRemaining();
    }

    /** Encrypts and sends some records. What the system does not take is held, and the buffers are set back by it. */
    private void encrypt(ByteBuffer[] from, int first, int end) throws IOException {
        if (outputEnded) {
            throw new SSLException("cannot send: the peer has ended the connection by close_notify"
                    + (refusesHandshakes ? ", which in TLS 1.2 ends both directions" : ""));
        }
        int[] positions = buffers.positions(from, first, end);
        ByteBuffer out = buffers.cipher();
        int plain = 0;
        boolean more = true;
        while (more) {
            SSLEngineResult result = engine.wrap(from, first, end - first, out);
            if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                throw new SSLException("cannot send: TLS was closed");
            }
            boolean moved = result.bytesConsumed() > 0 || result.bytesProduced() > 0;
            if (!moved && out.position() == 0) {
                throw new SSLException("cannot send: the engine encrypts nothing (" + result.getStatus() + ")");
            }
            plain += result.bytesConsumed();
            more = moved && from[end - 1].hasRemaining() && out.remaining() >= LoopBuffers.RECORD;
        }
        int size = out.flip().remaining();
        if (!raw().send(out)) {
            overhead = size - plain;
            inFlight = plain;
            held = ByteBuffer.allocate(out.remaining()).put(out).flip();
            count(size - held.remaining());
            setBack(from, first, end, positions, inFlight + confirmed);
            // What is confirmed is taken now, and need not be sent again.
            for (int i = first; i < end && confirmed > 0; i++) {
                skipSent(from[i]);
            }
        }
    }

    private static void setBack(ByteBuffer[] from, int first, int end, int[] positions, int bytes) {
        int left = bytes;
        for (int i = end - 1; i >= first && left > 0; i--) {
            int back = Math.min(left, from[i].position() - positions[i - first]);
            from[i].position(from[i].position() - back);
            left -= back;
        }
    }

    /** Counts held bytes as taken by the system. */
    private void count(int taken) {
        int others = Math.min(taken, overhead);
        overhead -= others;
        inFlight -= taken - others;
        confirmed += taken - others;
    }

    /** Sends what the engine has to say by itself. Returns false if it is nothing. */
    private boolean wrapControl() throws SSLException {
        ByteBuffer out = buffers.cipher();
        SSLEngineResult result = engine.wrap(NOTHING, out);
        if (out.flip().hasRemaining()) {
            sendControl(out);
        }
        return result.bytesProduced() > 0 || result.getStatus() == SSLEngineResult.Status.OK;
    }

    private void sendControl(ByteBuffer out) throws SSLException {
        try {
            if (!held.hasRemaining() && raw().send(out)) {
                return;
            }
        } catch (IOException e) {
            throw new SSLException("cannot send: " + e.getMessage(), e);
        }
        overhead += out.remaining();
        ByteBuffer all = ByteBuffer.allocate(held.remaining() + out.remaining());
        held = all.put(held).put(out).flip();
    }

    @Override
    public void onWritable() {
        if (closed) {
            goOnParting();
            return;
        }
        share = FILE_SHARE;
        if (held.hasRemaining()) {
            int before = held.remaining();
            try {
                raw().send(held);
            } catch (IOException e) {
                fail(e);
                return;
            }
            count(before - held.remaining());
            if (!held.hasRemaining()) {
                held = NOTHING;
            }
        }
        if (outputEnded && !held.hasRemaining()) {
            raw().closeOutput();
        }
        if (established && (confirmed > 0 || !held.hasRemaining())) {
            sink.onWritable();
        }
        drain(); // it may have been held back because the peer did not take our answers
    }

    @Override
    public long sendFile(FileSource file, long position, long count) throws IOException {
        long moved = Math.min(confirmed, count);
        confirmed -= (int) moved;
        while (moved < count && !held.hasRemaining()) {
            ByteBuffer piece = buffers.file();
            piece.limit((int) Math.min(piece.capacity(), Math.min(count - moved, share)));
            int read = share == 0 ? 0 : file.tryRead(piece, position + moved);
            if (read == Io.EOF && moved == 0) {
                return Io.EOF;
            }
            if (read <= 0) {
                // The share is used up, or the file has ended, which the next call will report.
                sendLater();
                return moved;
            }
            send(piece.flip());
            moved += piece.position();
            share -= piece.position();
        }
        return moved;
    }

    private void sendLater() {
        if (!sharing) {
            sharing = true;
            try {
                loop.execute(() -> {
                    sharing = false;
                    share = FILE_SHARE;
                    if (!closed) {
                        sink.onWritable();
                    }
                });
            } catch (RejectedExecutionException e) {
                // The loop is in its last turn, and ends this connection.
            }
        }
    }

    // ---- Ending ----

    @Override
    public void closeOutput() {
        if (closed || outputEnded) {
            return;
        }
        if (!established) {
            outputEndsLater = true;
            return;
        }
        sayClosing();
        if (!held.hasRemaining()) {
            raw().closeOutput();
        }
    }

    /** Tells the peer that no more follows. */
    private void sayClosing() {
        outputEnded = true;
        engine.closeOutbound();
        try {
            while (!engine.isOutboundDone() && wrapControl()) {
                // One record, in most cases.
            }
        } catch (SSLException e) {
            // The connection is broken, and a read will report that.
        }
    }

    @Override
    public void close() {
        if (!closed) {
            if (established && !outputEnded && inFlight == 0) {
                sayClosing();
            }
            part();
        }
    }

    /**
     * Closes when the system has taken what tells the peer why, if it has not: a manager that completes writes later
     * never takes anything at once. For the connection it is closed from now on.
     */
    private void part() {
        closed = true;
        cancelDeadline();
        kept = NOTHING;
        undelivered = NOTHING;
        // Without the bytes before it, it would be no end.
        if (outputEnded && held.hasRemaining() && inFlight == 0 && !raw().isClosed()) {
            try {
                deadline = loop.schedule(PARTING_NANOS, fired -> {
                    if (fired) {
                        deadline = null;
                        end();
                    }
                });
                parting = true;
                return;
            } catch (RejectedExecutionException e) {
                // The loop is in its last turn.
            }
        }
        end();
    }

    private void goOnParting() {
        if (parting) {
            try {
                if (!raw().send(held)) {
                    return;
                }
            } catch (IOException e) {
                // It is broken, so the peer knows.
            }
            end();
        }
    }

    /** Closes without telling the peer that this is the end: it must not take what it got for the whole. */
    @Override
    public void abort() {
        if (!closed) {
            end();
        }
    }

    private void end() {
        closed = true;
        parting = false;
        cancelDeadline();
        held = NOTHING;
        kept = NOTHING;
        undelivered = NOTHING;
        raw().close();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /**
     * Tells the peer why, as far as TLS has a word for it, and the connection; then closes. A connection that loses bytes
     * has the peer see a reset.
     */
    private void fail(Exception cause) {
        if (closed) {
            return;
        }
        // An engine that computes would have us wait. Other failures are not the peer's, and have no word in TLS.
        if (cause instanceof SSLException && !(cause instanceof TlsTruncatedException) && !computing) {
            sendAlert();
        }
        closed = true;
        // Reads and drops what has arrived: closing with unread input would reset the connection, and the peer might
        // never see the alert.
        raw().resume();
        raw().readNow();
        try {
            sink.onFailed(cause instanceof IOException io ? io : new SSLException("TLS failed: " + cause, cause));
        } finally {
            part();
        }
    }

    private void sendAlert() {
        if (outputEnded) {
            return;
        }
        outputEnded = true;
        try {
            engine.closeOutbound();
            for (int i = 0; i < 4 && !engine.isOutboundDone() && wrapControl(); i++) {
                // One record, in most cases.
            }
        } catch (SSLException | RuntimeException e) {
            // The connection is broken, so the peer knows.
        }
    }

    @Override
    public void onFailed(IOException cause) {
        if (closed) {
            end();
            return;
        }
        closed = true;
        try {
            sink.onFailed(cause);
        } finally {
            end();
        }
    }

    @Override
    public void onLoopEnd() {
        if (closed) {
            end();
        } else {
            sink.onLoopEnd();
        }
    }

    /** For tests. */
    SSLEngine engine() {
        return engine;
    }

    /** Returns how many bytes its own buffers have, for tests: none if it is idle. */
    int ownBytes() {
        return held.capacity() + kept.capacity() + undelivered.capacity();
    }

    @Override
    public int prefetch() {
        return sink.prefetch();
    }

    @Override
    public String toString() {
        return "TLS of " + sink;
    }
}
