package io.millrace.conformance;

import io.millrace.backplane.Position;
import io.millrace.backplane.memory.MemoryProvider;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineProvider;
import io.millrace.backplane.spi.EngineSettings;
import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.millrace.backplane.spi.StoredRecord;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Opens {@code held:NAME}: {@code memory:NAME}, whose answers and pushes a test can hold back. For the service loader.
 */
public final class HeldProvider implements EngineProvider {
    private static final Map<String, Held> OPEN = new ConcurrentHashMap<>();

    @Override
    public Set<String> schemes() {
        return Set.of("held");
    }

    @Override
    public Engine open(EngineSettings settings) {
        String name = settings.url().substring("held:".length());
        EngineSettings inMemory = new EngineSettings(
                "memory:" + name,
                settings.manager(),
                settings.node(),
                settings.namespace(),
                settings.history(),
                settings.listener());
        Held engine = new Held(name, new MemoryProvider().open(inMemory));
        OPEN.put(name, engine);
        return engine;
    }

    /** Returns the engine that was opened last under this name. */
    static Held inUse(String name) {
        Held engine = OPEN.get(name);
        if (engine == null) {
            throw new IllegalStateException("no backplane was opened at held:" + name);
        }
        return engine;
    }

    /** Topics of the backplane itself are never held back. */
    static final class Held implements Engine {
        private final String name;
        private final Engine inner;
        private boolean holdsAnswers;
        private boolean holdsPushes;
        private final Queue<Runnable> answers = new ArrayDeque<>();
        private final Queue<Runnable> pushes = new ArrayDeque<>();

        private Held(String name, Engine inner) {
            this.name = name;
            this.inner = inner;
        }

        /** What is read from now on is read at once, and told later. */
        synchronized void holdAnswers() {
            holdsAnswers = true;
        }

        synchronized void holdPushes() {
            holdsPushes = true;
        }

        synchronized int heldAnswers() {
            return answers.size();
        }

        void releaseAnswers() {
            List<Runnable> held;
            synchronized (this) {
                holdsAnswers = false;
                held = List.copyOf(answers);
                answers.clear();
            }
            held.forEach(Runnable::run);
        }

        void releasePushes() {
            List<Runnable> held;
            synchronized (this) {
                holdsPushes = false;
                held = List.copyOf(pushes);
                pushes.clear();
            }
            held.forEach(Runnable::run);
        }

        private synchronized boolean isAnswerHeld(String topic, Runnable answer) {
            return !topic.startsWith("$") && holdsAnswers && answers.add(answer);
        }

        private synchronized boolean isPushHeld(String topic, Runnable push) {
            return !topic.startsWith("$") && holdsPushes && pushes.add(push);
        }

        @Override
        public void start() {
            inner.start();
        }

        @Override
        public CompletableFuture<Position> append(String topic, Envelope record) {
            return inner.append(topic, record);
        }

        @Override
        public CompletableFuture<Page> last(String topic, int count) {
            return inner.last(topic, count);
        }

        @Override
        public CompletableFuture<Page> read(String topic, Position after, int count) {
            CompletableFuture<Page> told = new CompletableFuture<>();
            var ignored = inner.read(topic, after, count).whenComplete((page, failure) -> {
                Runnable answer = () -> {
                    if (failure == null) {
                        told.complete(page);
                    } else {
                        told.completeExceptionally(failure);
                    }
                };
                if (!isAnswerHeld(topic, answer)) {
                    answer.run();
                }
            });
            return told;
        }

        @Override
        public void follow(String topic, Position after, LogReader reader) {
            inner.follow(topic, after, new LogReader() {
                @Override
                public void onRecords(List<StoredRecord> records) {
                    if (!isPushHeld(topic, () -> reader.onRecords(records))) {
                        reader.onRecords(records);
                    }
                }

                @Override
                public void onBroken() {
                    reader.onBroken();
                }
            });
        }

        @Override
        public void unfollow(String topic) {
            inner.unfollow(topic);
        }

        @Override
        public void remove(String topic) {
            inner.remove(topic);
        }

        @Override
        public void close() {
            OPEN.remove(name, this);
            inner.close();
        }
    }
}
