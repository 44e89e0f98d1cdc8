package io.millrace.server.support;

import io.millrace.engine.Dispatch;
import io.millrace.net.ByteStream;
import io.millrace.net.ConnectOptions;
import io.millrace.net.KeepAlive;
import io.millrace.net.ListenOptions;
import io.millrace.poll.internal.Durations;
import io.millrace.server.Idle;
import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The settings that servers and clients have in common, as a builder collects them. */
public final class ServerSettings {
    static final int MAX_BUFFER = 1 << 24;

    /** The highest meaningful limit of bytes that wait on a connection: no heap holds this much. */
    public static final long MOST_LIMIT = 1L << 38;

    /**
     * How many bytes a read gets at most if all connections of a loop share one buffer, so that its size costs a
     * connection nothing.
     */
    private static final int SHARED_BUFFER = 256 * 1024;
    /**
     * How many bytes a read gets at most if a connection has its own buffer, or if the bytes are copied for callbacks
     * off the loop.
     */
    private static final int OWN_BUFFER = 8 * 1024;

    /** 0 if it was not set. */
    private int bufferSize;

    public long lowWater = 32 * 1024;
    public long highWater = 64 * 1024;
    public long limit = 64L * 1024 * 1024;
    public long budgetBytes = BudgetDefaults.bytes();
    public int budgetFiles = BudgetDefaults.files();
    /** The initial settings of sockets, for clients and for what a listener accepts. */
    private ConnectOptions sockets =
            ConnectOptions.standard().withNoDelay(true).withKeepAlive(KeepAlive.after(Duration.ofSeconds(60)));

    private long idleNanos;
    private long readIdleNanos;
    private long writeIdleNanos;
    public boolean readWhileFull;
    public long writeNanos = 30_000_000_000L;
    public Dispatch dispatch = Dispatch.LOOP;
    /** Whether virtual threads run on the loops, if the JVM allows it. */
    public boolean loopThreads = true;
    /** Whether each connection has a thread of its own, whose end the graceful end waits for. */
    public boolean converses;
    /** Null for plain connections. */
    public @Nullable Tls tls;

    public int workers = Runtime.getRuntime().availableProcessors();

    public ServerSettings() {}

    /** Returns a copy for a server or client, because the builder may be changed and used again. */
    public ServerSettings copy() {
        ServerSettings copy = new ServerSettings();
        copy.bufferSize = bufferSize;
        copy.lowWater = lowWater;
        copy.highWater = highWater;
        copy.limit = limit;
        copy.budgetBytes = budgetBytes;
        copy.budgetFiles = budgetFiles;
        copy.sockets = sockets;
        copy.idleNanos = idleNanos;
        copy.readIdleNanos = readIdleNanos;
        copy.writeIdleNanos = writeIdleNanos;
        copy.readWhileFull = readWhileFull;
        copy.writeNanos = writeNanos;
        copy.dispatch = dispatch;
        copy.loopThreads = loopThreads;
        copy.converses = converses;
        copy.workers = workers;
        copy.tls = tls;
        return copy;
    }

    public void setBufferSize(int bytes) {
        this.bufferSize = inRange("the buffer size", bytes, 1, MAX_BUFFER);
    }

    /** Returns how many bytes {@code onData} gets at most. */
    public int bufferSize(boolean shared) {
        return bufferSize > 0 ? bufferSize : shared ? SHARED_BUFFER : OWN_BUFFER;
    }

    public void setWaterMarks(long low, long high, long most) {
        if (low < 0 || high < low || most < high) {
            throw new IllegalArgumentException(
                    "water marks must be 0 <= low <= high <= limit, not " + low + ", " + high + ", " + most);
        }
        this.lowWater = low;
        this.highWater = high;
        this.limit = Math.min(most, MOST_LIMIT);
    }

    public void setBudget(long bytes, int files) {
        if (bytes < 1 || files < 1) {
            throw new IllegalArgumentException(
                    "a budget must be at least 1 byte and 1 file, not " + bytes + " and " + files);
        }
        this.budgetBytes = bytes;
        this.budgetFiles = files;
    }

    public void setNoDelay(boolean on) {
        this.sockets = sockets.withNoDelay(on);
    }

    public void setKeepAlive(@Nullable KeepAlive times) {
        this.sockets = sockets.withKeepAlive(times);
    }

    public void setSendBuffer(int bytes) {
        this.sockets = sockets.withSendBuffer(bytes);
    }

    public void setReceiveBuffer(int bytes) {
        this.sockets = sockets.withReceiveBuffer(bytes);
    }

    public void setTrafficClass(int octet) {
        this.sockets = sockets.withTrafficClass(octet);
    }

    public void setLinger(@Nullable Duration time) {
        this.sockets = sockets.withLinger(time);
    }

    public void setIdleTimeout(Duration timeout) {
        this.idleNanos = Durations.limitNanos(timeout, "the idle timeout");
    }

    public void setReadIdleTimeout(Duration timeout) {
        this.readIdleNanos = Durations.limitNanos(timeout, "the read idle timeout");
    }

    public void setWriteIdleTimeout(Duration timeout) {
        this.writeIdleNanos = Durations.limitNanos(timeout, "the write idle timeout");
    }

    /** Returns whether there is a limit for how long a connection may be silent. */
    public boolean limitsIdle() {
        return (idleNanos | readIdleNanos | writeIdleNanos) != 0;
    }

    /** Returns how long a connection may be silent in this way; 0 for any time. */
    public long idleNanos(Idle kind) {
        return switch (kind) {
            case BOTH -> idleNanos;
            case READ -> readIdleNanos;
            case WRITE -> writeIdleNanos;
        };
    }

    public void setWriteTimeout(Duration timeout) {
        this.writeNanos = Durations.limitNanos(timeout, "the write timeout");
    }

    public void setDispatch(Dispatch mode, int threads) {
        this.dispatch = Objects.requireNonNull(mode, "mode");
        this.workers = inRange("the number of workers", threads, 1, 1024);
    }

    /** Applies the settings to the options of a listener; accepted connections inherit them. */
    public ListenOptions listening(ListenOptions options) {
        return options.withNoDelay(sockets.noDelay())
                .withKeepAlive(sockets.keepAlive())
                .withSendBuffer(sockets.sendBuffer())
                .withReceiveBuffer(sockets.receiveBuffer())
                .withTrafficClass(sockets.trafficClass())
                .withLinger(sockets.linger());
    }

    /** Applies what a Unix socket has of the settings: the sizes of its buffers. */
    public void applyBuffers(ByteStream stream) throws IOException {
        if (sockets.sendBuffer() > 0) {
            stream.setSendBuffer(sockets.sendBuffer());
        }
        if (sockets.receiveBuffer() > 0) {
            stream.setReceiveBuffer(sockets.receiveBuffer());
        }
    }

    /** Applies the settings to a connection that is being opened. */
    public ConnectOptions connecting() {
        return sockets;
    }

    public static int inRange(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be from " + min + " to " + max + ", not " + value);
        }
        return value;
    }
}
