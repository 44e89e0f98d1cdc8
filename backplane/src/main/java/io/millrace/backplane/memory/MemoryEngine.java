package io.millrace.backplane.memory;

import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineSettings;
import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The engine for nodes in one process: a {@link MemoryStore}. */
final class MemoryEngine implements Engine {
    private final MemoryStore store;
    private final EngineSettings settings;
    /** What was appended while the store was away. Guarded by itself, as are appends, so that they stay in order. */
    private final Queue<Waiting> waiting = new ArrayDeque<>();

    private boolean closed;

    private record Waiting(String topic, Envelope record, CompletableFuture<Position> result) {}

    MemoryEngine(MemoryStore store, EngineSettings settings) {
        this.store = store;
        this.settings = settings;
    }

    @Override
    public void start() {
        if (store.join(this)) {
            settings.listener().onConnected();
        } else {
            settings.listener().onAway(new IllegalStateException("the store is away"));
        }
    }

    void lost(Throwable reason) {
        settings.listener().onAway(reason);
    }

    void found() {
        settings.listener().onConnected();
        synchronized (waiting) {
            for (Waiting first = waiting.peek(); first != null; first = waiting.peek()) {
                Position position = store.append(first.topic, first.record.bytes(), settings.history());
                if (position == null) {
                    return;
                }
                waiting.remove();
                first.result.complete(position);
            }
        }
    }

    @Override
    public CompletableFuture<Position> append(String topic, Envelope record) {
        synchronized (waiting) {
            if (closed) {
                return CompletableFuture.failedFuture(closed());
            }
            Position position = waiting.isEmpty() ? store.append(topic, record.bytes(), settings.history()) : null;
            if (position != null) {
                return CompletableFuture.completedFuture(position);
            }
            CompletableFuture<Position> result = new CompletableFuture<>();
            waiting.add(new Waiting(topic, record, result));
            return result;
        }
    }

    private static NotPublishedException closed() {
        return new NotPublishedException(NotPublishedException.Reason.CLOSED, "the backplane is closed");
    }

    @Override
    public CompletableFuture<Page> last(String topic, int count) {
        return answer(store.last(topic, count));
    }

    @Override
    public CompletableFuture<Page> read(String topic, Position after, int count) {
        return answer(store.read(topic, after, count));
    }

    private static CompletableFuture<Page> answer(@Nullable Page page) {
        return page == null
                ? CompletableFuture.failedFuture(new IllegalStateException("the store is away"))
                : CompletableFuture.completedFuture(page);
    }

    @Override
    public void follow(String topic, Position after, LogReader reader) {
        store.follow(topic, after, this, reader);
    }

    @Override
    public void unfollow(String topic) {
        store.unfollow(topic, this);
    }

    @Override
    public void remove(String topic) {
        store.remove(topic);
    }

    @Override
    public void close() {
        store.part(this);
        synchronized (waiting) {
            closed = true;
            waiting.forEach(unsent -> unsent.result.completeExceptionally(closed()));
            waiting.clear();
        }
    }
}
