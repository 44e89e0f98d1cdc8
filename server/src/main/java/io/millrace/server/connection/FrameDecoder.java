package io.millrace.server.connection;

import io.millrace.engine.AlarmKey;
import io.millrace.server.Framing;
import io.millrace.server.framing.FrameBuffer;
import io.millrace.server.framing.FramingKinds;
import io.millrace.server.framing.FramingTerms;
import java.io.EOFException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Splits the bytes of one connection into frames and calls its handler for each: see {@link Framing}. Exists only while
 * the connection has a framing. Used only by the connection's callbacks, which never overlap.
 *
 * <p>While the connection is paused or full, complete frames are held back, and the end of the input behind them. No
 * time limit runs meanwhile.
 */
final class FrameDecoder {
    /** How soon a late frame is checked again if more of it may have arrived that was not read yet. */
    private static final long SOON_NANOS = 1_000_000;

    private final StreamConnection connection;
    private final FrameBuffer bytes = new FrameBuffer();

    /** The connection's own; {@link FramingKinds#NONE} for bytes as they come. */
    private Framing framing = FramingKinds.NONE;

    private int maxBytes;
    private long withinNanos;

    /** Whether {@link #received} is running, which continues with whatever framing is set. */
    private boolean delivering;
    /** Whether the framing was set since this was last cleared. */
    private boolean switched;
    /** Whether the rest of a frame is awaited, and since when. */
    private boolean awaiting;

    /** Whether the input has ended behind frames that are held back. */
    private boolean endWaits;

    private long since;
    private @Nullable AlarmKey alarm;
    /** The number of the current alarm; the callback of an older one finds another number here. */
    private int alarmNumber;

    FrameDecoder(StreamConnection connection) {
        this.connection = connection;
    }

    /**
     * Sets the framing of all bytes that were not delivered yet.
     *
     * @return whether {@link #look} must be called afterwards
     */
    boolean use(FramingTerms next) {
        if (next.isNone() && isRaw()) {
            return false;
        }
        framing = next.framing();
        maxBytes = next.maxBytes();
        withinNanos = next.withinNanos();
        switched = !next.isNone(); // bytes as they come are what a callback of bytes has already
        awaiting = false;
        bytes.forget();
        cancelAlarm();
        return !delivering && (bytes.hasNews() || isExpected());
    }

    @SuppressWarnings("ReferenceEquality") // there is only one
    boolean isRaw() {
        return framing == FramingKinds.NONE;
    }

    /** Returns whether a frame is awaited even if none of its bytes have arrived. */
    private boolean isExpected() {
        return framing instanceof FramingKinds.Exactly exactly && exactly.isDue();
    }

    /** Returns whether a frame has begun and its time is being watched. */
    boolean isWatched() {
        return awaiting && alarm != null;
    }

    // ---- Delivering ----

    /** Delivers the frames in the kept bytes, after another framing was set. */
    void look() {
        received(ByteBuffer.allocate(0));
    }

    /** Delivers the frames in the kept bytes and those that have just arrived, and keeps the rest. */
    void received(ByteBuffer data) {
        bytes.add(data);
        delivering = true;
        boolean held = false;
        try {
            boolean more = true;
            while (more && !held && connection.isWanted()) {
                held = connection.holdsFrames();
                if (!held) {
                    more = isRaw() ? deliverPiece() : deliverFrame();
                }
            }
            if (held) {
                awaiting = false; // its time begins when it is no longer held
                bytes.keep();
            } else if (connection.isWanted()) {
                keep();
            }
        } catch (ProtocolException e) {
            connection.tellError(e);
            connection.close();
        } catch (Throwable e) {
            // For example, there is no memory for the bytes. What follows them would begin in the middle of a frame.
            connection.tellThrown(e);
            connection.close();
        }
        delivering = false;
        if (!connection.isWanted()) {
            drop();
        } else if (isRaw() && !held) {
            connection.frames = null;
        }
        connection.setFramesHeld(held && connection.isWanted() && isAnythingLeft());
        if (endWaits && !held) {
            endWaits = false;
            tellEndOfInput();
        }
    }

    /** Returns whether there is anything that was not told: bytes, an empty frame, or the end of the input. */
    private boolean isAnythingLeft() {
        return bytes.available() > 0
                || endWaits
                || (framing instanceof FramingKinds.Exactly exactly && exactly.isEmptyDue());
    }

    /** Delivers the next frame. Returns false if there is none yet. */
    private boolean deliverFrame() throws ProtocolException {
        if (!bytes.isFound() && (bytes.hasNews() || isExpected())) {
            find();
        }
        if (!connection.isWanted() || !bytes.isComplete()) {
            return false;
        }
        awaiting = false;
        connection.tellHandler(bytes.beginFrame());
        bytes.endFrame();
        return true;
    }

    /** Searches for the next frame. If the framing fails, only this connection is closed. */
    private void find() throws ProtocolException {
        try {
            bytes.find(framing, maxBytes);
        } catch (ProtocolException e) {
            throw e;
        } catch (Throwable e) {
            connection.tellThrown(new IllegalStateException(
                    "closing " + connection + ": its framing, " + framing + ", failed: " + e, e));
            connection.close();
        }
    }

    /** Delivers bytes as they are. If the callback sets a framing, that gets what is not consumed. Returns false if there are none. */
    private boolean deliverPiece() {
        if (bytes.available() == 0) {
            return false;
        }
        ByteBuffer piece = bytes.beginPiece();
        switched = false;
        connection.tellHandler(piece);
        bytes.endPiece(piece, !switched);
        return true;
    }

    private void keep() {
        bytes.keep();
        if (!awaiting && (bytes.available() > 0 || bytes.isFound())) {
            awaiting = true;
            if (withinNanos > 0) {
                since = connection.loop().now();
                if (alarm == null) {
                    watch(withinNanos);
                }
            }
        }
    }

    private void drop() {
        awaiting = false;
        bytes.drop();
    }

    // ---- Time ----

    /**
     * Watches the time with one alarm for all frames of a framing. When it fires, it computes how late the current frame
     * really is, so a frame itself costs only a store.
     */
    private void watch(long nanos) {
        int number = ++alarmNumber;
        alarm = connection.schedule(nanos, fired -> {
            if (fired) {
                // Deliver what has arrived first: if the process was stopped for a while, the frame is not late.
                boolean more = connection.readArrived();
                if (more && connection.isPaused()) {
                    // The input is paused on our side, so check again when it is resumed.
                    connection.runAtResume(() -> connection.call(() -> watchAgain(number)));
                } else {
                    connection.call(() -> onFrameAlarm(number, more));
                }
            }
        });
    }

    private void watchAgain(int number) {
        if (number == alarmNumber) {
            watch(SOON_NANOS);
        }
    }

    /** Closes the connection if the current frame is late, unless more of it may have arrived than was read at once. */
    private void onFrameAlarm(int number, boolean more) {
        if (number != alarmNumber) {
            return;
        }
        alarm = null;
        if (!awaiting || connection.isClosed()) {
            return;
        }
        long left = withinNanos - (connection.loop().now() - since);
        if (left > 0 || more) {
            watch(Math.max(left, SOON_NANOS));
        } else {
            connection.tellError(new SocketTimeoutException("a frame of which " + bytes.available()
                    + " bytes came took longer than " + withinNanos / 1_000_000 + " ms"));
            connection.close();
            drop();
        }
    }

    private void cancelAlarm() {
        alarmNumber++;
        AlarmKey present = alarm;
        alarm = null;
        if (present != null) {
            connection.loop().cancel(present);
        }
    }

    // ---- Ending ----

    /** Tells the handler of the end of the input, after all frames. */
    void endOfInput() {
        endWaits = true;
        look();
    }

    private void tellEndOfInput() {
        if (awaiting) {
            long came = bytes.available();
            drop();
            connection.tellError(
                    new EOFException("the input ended in the middle of a frame, of which " + came + " bytes came"));
        }
        if (connection.isWanted()) {
            connection.tellEndOfInput();
        }
    }

    /** Called before {@code onDisconnect}. */
    void close() {
        cancelAlarm();
    }
}
