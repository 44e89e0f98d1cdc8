package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.net.KeepAlive;
import io.millrace.net.ListenOptions;
import io.millrace.net.TcpStream;
import io.millrace.poll.internal.Durations;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The settings that servers and clients share, while a builder gathers them. */
final class ServerSettings {
    static final int MAX_BUFFER = 1 << 24;

    /** How many bytes a connection reads at most: into the buffer that all connections of a loop share, which costs one of them nothing. */
    private static final int SHARED_BUFFER = 256 * 1024;
    /** The same into a buffer of its own, or to be copied to where callbacks run. */
    private static final int OWN_BUFFER = 8 * 1024;

    /** 0 if nobody has said. */
    private int bufferSize;

    long lowWater = 32 * 1024;
    long highWater = 64 * 1024;
    long limit = 64L * 1024 * 1024;
    long budgetBytes = SendBudget.defaultBytes();
    int budgetFiles = SendBudget.defaultFiles();
    boolean noDelay = true;
    private @Nullable KeepAlive keepAlive = KeepAlive.after(Duration.ofSeconds(60));
    long idleNanos;
    long writeNanos = 30_000_000_000L;
    Dispatch dispatch = Dispatch.LOOP;
    int workers = Runtime.getRuntime().availableProcessors();

    ServerSettings() {}

    /** For what is started with them: the builder may be used again, with others. */
    ServerSettings copy() {
        ServerSettings copy = new ServerSettings();
        copy.bufferSize = bufferSize;
        copy.lowWater = lowWater;
        copy.highWater = highWater;
        copy.limit = limit;
        copy.budgetBytes = budgetBytes;
        copy.budgetFiles = budgetFiles;
        copy.noDelay = noDelay;
        copy.keepAlive = keepAlive;
        copy.idleNanos = idleNanos;
        copy.writeNanos = writeNanos;
        copy.dispatch = dispatch;
        copy.workers = workers;
        return copy;
    }

    void bufferSize(int bytes) {
        this.bufferSize = inRange("the buffer size", bytes, 1, MAX_BUFFER);
    }

    /** How many bytes {@code onData} gets at most. */
    int bufferSize(boolean shared) {
        return bufferSize > 0 ? bufferSize : shared ? SHARED_BUFFER : OWN_BUFFER;
    }

    void waterMarks(long low, long high, long most) {
        if (low < 0 || high < low || most < high) {
            throw new IllegalArgumentException(
                    "water marks must be 0 <= low <= high <= limit, not " + low + ", " + high + ", " + most);
        }
        this.lowWater = low;
        this.highWater = high;
        this.limit = Math.min(most, SendGate.MOST_BYTES);
    }

    void budget(long bytes, int files) {
        if (bytes < 1 || files < 1) {
            throw new IllegalArgumentException(
                    "a budget must be at least 1 byte and 1 file, not " + bytes + " and " + files);
        }
        this.budgetBytes = bytes;
        this.budgetFiles = files;
    }

    void keepAlive(@Nullable KeepAlive times) {
        this.keepAlive = times;
    }

    void idleTimeout(Duration timeout) {
        this.idleNanos = Durations.limitNanos(timeout, "the idle timeout");
    }

    void writeTimeout(Duration timeout) {
        this.writeNanos = Durations.limitNanos(timeout, "the write timeout");
    }

    void dispatch(Dispatch mode, int threads) {
        this.dispatch = Objects.requireNonNull(mode, "mode");
        this.workers = inRange("the number of workers", threads, 1, 1024);
    }

    /** Makes the settings real, of what a listener accepts. */
    ListenOptions listening(ListenOptions options) {
        return options.withNoDelay(noDelay).withKeepAlive(keepAlive);
    }

    /** Makes the settings real, of a connection that is being made. */
    void apply(TcpStream stream) throws IOException {
        stream.setNoDelay(noDelay);
        stream.setKeepAlive(keepAlive);
    }

    static int inRange(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be from " + min + " to " + max + ", not " + value);
        }
        return value;
    }
}
