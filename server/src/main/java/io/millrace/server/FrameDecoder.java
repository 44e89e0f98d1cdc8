package io.millrace.server;

import io.millrace.engine.AlarmKey;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Stands between a connection and a handler that wants whole frames: see {@link Framing}. What it knows of a connection hangs on the connection. */
final class FrameDecoder implements ConnectionHandler {
    private static final byte[] NONE = {};

    /** When a frame that is late is judged again, because its end may have arrived and was not read. */
    private static final long SOON_NANOS = 1_000_000;

    private final Framing framing;
    private final ConnectionHandler handler;

    FrameDecoder(Framing framing, ConnectionHandler handler) {
        this.framing = framing;
        this.handler = handler;
    }

    /** The beginning of a frame, on one connection. Used by the connection's callbacks only, which come one after the other. */
    static final class Partial {
        private byte[] kept = NONE;
        private int count;
        private boolean broken;
        private long since;
        private @Nullable AlarmKey alarm;

        /** Whether a frame has begun whose end may be late. */
        boolean isWatched() {
            return count > 0 && alarm != null;
        }
    }

    private static Partial of(StreamConnection connection) {
        Partial partial = connection.partialFrame;
        if (partial == null) {
            partial = new Partial();
            connection.partialFrame = partial;
        }
        return partial;
    }

    @Override
    public void onConnect(Connection connection) throws Exception {
        handler.onConnect(connection);
    }

    @Override
    public void onData(Connection connection, ByteBuffer data) {
        StreamConnection stream = (StreamConnection) connection;
        Partial partial = of(stream);
        int limit = data.limit();
        try {
            while (data.hasRemaining() && !partial.broken && !connection.isClosed()) {
                int size = framing.find(partial.kept, partial.count, data);
                if (size < 0) {
                    keep(stream, partial, data);
                    return;
                }
                int next = data.position() + size;
                tell(stream, take(partial, data, size));
                data.limit(limit).position(next);
            }
        } catch (ProtocolException e) {
            refuse(stream, partial, e);
        }
    }

    /** The frame: where it is, if it is all there; else behind what was kept, in memory of its own, which nobody keeps. */
    private ByteBuffer take(Partial partial, ByteBuffer data, int size) {
        if (partial.count == 0) {
            int begin = data.position();
            return data.limit(begin + size - framing.after()).position(begin + framing.before());
        }
        append(partial, data, size);
        int length = partial.count - framing.before() - framing.after();
        ByteBuffer frame = ByteBuffer.wrap(partial.kept, framing.before(), length);
        partial.kept = NONE;
        partial.count = 0;
        return frame;
    }

    private void tell(StreamConnection connection, ByteBuffer frame) {
        try {
            handler.onData(connection, frame);
        } catch (Throwable e) {
            connection.tellThrown(e);
        }
    }

    private void keep(StreamConnection connection, Partial partial, ByteBuffer data) {
        if (partial.count == 0 && framing.withinNanos > 0) {
            partial.since = connection.loop().now();
            if (partial.alarm == null) {
                watch(connection, partial, framing.withinNanos);
            }
        }
        append(partial, data, data.remaining());
    }

    private static void append(Partial partial, ByteBuffer data, int size) {
        int needed = partial.count + size;
        if (needed > partial.kept.length) {
            int doubled = (int) Math.min(Integer.MAX_VALUE - 8, 2L * partial.kept.length);
            partial.kept = Arrays.copyOf(partial.kept, Math.max(needed, doubled));
        }
        data.get(partial.kept, partial.count, size);
        partial.count = needed;
    }

    /** One alarm for all frames of a connection: it looks how late the present one really is, so that a frame costs a store. */
    private void watch(StreamConnection connection, Partial partial, long nanos) {
        partial.alarm = connection.schedule(nanos, fired -> {
            if (fired) {
                // What has arrived is told first: the process may have been stopped, and the frame is not late for
                // that.
                boolean more = connection.readArrived();
                if (more && connection.isPaused()) {
                    // It is we who do not read. So it is judged when we do, and nothing looks until then.
                    connection.atResume(() -> connection.call(() -> watch(connection, partial, SOON_NANOS)));
                } else {
                    connection.call(() -> late(connection, partial, more));
                }
            }
        });
    }

    /** Judges the frame that has begun, unless more of it may have arrived than was read at once. */
    private void late(StreamConnection connection, Partial partial, boolean more) {
        partial.alarm = null;
        if (partial.count == 0 || partial.broken || connection.isClosed()) {
            return;
        }
        long left = framing.withinNanos - (connection.loop().now() - partial.since);
        if (left > 0 || more) {
            watch(connection, partial, Math.max(left, SOON_NANOS));
        } else {
            refuse(
                    connection,
                    partial,
                    new SocketTimeoutException("a frame of which " + partial.count + " bytes came took longer than "
                            + framing.withinNanos / 1_000_000 + " ms"));
        }
    }

    private void refuse(StreamConnection connection, Partial partial, Exception why) {
        partial.broken = true;
        partial.kept = NONE;
        partial.count = 0;
        connection.tellError(why);
        connection.close();
    }

    @Override
    public void onEndOfInput(Connection connection) throws Exception {
        StreamConnection stream = (StreamConnection) connection;
        Partial partial = of(stream);
        if (partial.count > 0) {
            stream.tellError(new ProtocolException(
                    "the input ended in the middle of a frame, of which " + partial.count + " bytes came"));
            partial.count = 0;
            partial.kept = NONE;
        }
        handler.onEndOfInput(connection);
    }

    @Override
    public void onWritable(Connection connection) throws Exception {
        handler.onWritable(connection);
    }

    @Override
    public void onDisconnect(Connection connection) throws Exception {
        StreamConnection stream = (StreamConnection) connection;
        Partial partial = stream.partialFrame;
        stream.partialFrame = null;
        if (partial != null) {
            AlarmKey alarm = partial.alarm;
            if (alarm != null) {
                stream.loop().cancel(alarm);
            }
        }
        handler.onDisconnect(connection);
    }

    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        handler.onError(connection, failure);
    }

    @Override
    public String toString() {
        return framing + " to " + handler;
    }
}
