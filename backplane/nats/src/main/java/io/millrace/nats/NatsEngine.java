package io.millrace.nats;

import io.millrace.backplane.Position;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineSettings;
import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A backplane over NATS JetStream: connects, and connects again, because jnats by itself would send again what was on its
 * way without saying so. What has to wait for the server is done on one virtual thread, in order; publishing does not
 * wait. jnats has threads of its own for its connection.
 */
final class NatsEngine implements Engine {
    private static final System.Logger LOGGER = System.getLogger("io.millrace.backplane");
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final EngineSettings settings;
    private final Publisher publisher;
    private final ExecutorService worker = Executors.newSingleThreadExecutor(
            Thread.ofVirtual().name("millrace-nats").factory());

    private final Object lock = new Object();
    private @Nullable Session session;
    private Duration pause = FIRST_PAUSE;
    private boolean toldAway;
    private boolean closed;
    /** The listener's calls, one after the other. */
    private CompletableFuture<Void> told = CompletableFuture.completedFuture(null);

    NatsEngine(EngineSettings settings) {
        this.settings = settings;
        this.publisher =
                new Publisher(settings.namespace(), this::lose, (now, stream) -> work(now, () -> now.end(stream)));
    }

    @Override
    public void start() {
        later(Duration.ZERO, this::connect);
    }

    // ---- Connecting ----

    private void connect() {
        try {
            worker.execute(() -> {
                synchronized (lock) {
                    if (closed) {
                        return;
                    }
                }
                Watch watch = new Watch();
                try {
                    Connection connection = Nats.connect(new Options.Builder()
                            .server(settings.url())
                            .connectionName("millrace " + settings.node())
                            .noReconnect()
                            .connectionTimeout(PATIENCE)
                            .pingInterval(PATIENCE)
                            .maxPingsOut(2)
                            .connectionListener(watch)
                            .errorListener(watch)
                            .build());
                    established(watch, session(connection));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } catch (Exception e) {
                    failed(e);
                }
            });
        } catch (RejectedExecutionException e) {
            LOGGER.log(Level.DEBUG, "closed while connecting", e);
        }
    }

    private Session session(Connection connection) throws Exception {
        try {
            return Session.begin(connection, settings.history());
        } catch (Exception e) {
            connection.close();
            throw e;
        }
    }

    private void established(Watch watch, Session next) throws InterruptedException {
        synchronized (lock) {
            if (closed) {
                next.close();
                return;
            }
            session = next;
            pause = FIRST_PAUSE;
            toldAway = false;
        }
        publisher.begin(next);
        tell(() -> settings.listener().onConnected());
        watch.of(next);
    }

    /** What jnats tells of one connection. */
    private final class Watch implements ConnectionListener, ErrorListener {
        private @Nullable Session of;
        private boolean over;

        void of(Session one) {
            boolean lost;
            synchronized (lock) {
                of = one;
                lost = over;
            }
            if (lost) {
                lose(one, new IllegalStateException("the connection was closed at once"));
            }
        }

        @Override
        @SuppressWarnings("deprecation") // its successor calls this one, which has no default
        public void connectionEvent(Connection connection, Events type) {
            if (type == Events.CLOSED || type == Events.DISCONNECTED) {
                Session one;
                synchronized (lock) {
                    over = true;
                    one = of;
                }
                if (one != null) {
                    lose(one, new IllegalStateException("the connection was closed"));
                }
            }
        }

        @Override
        public void heartbeatAlarm(
                Connection connection, JetStreamSubscription silent, long lastStream, long lastConsumer) {
            Session one;
            synchronized (lock) {
                one = of;
            }
            if (one != null) {
                CompletableFuture<JetStreamSubscription> ignored = work(one, () -> {
                    one.broken(silent);
                    return silent;
                });
            }
        }

        @Override
        public void errorOccurred(Connection connection, String error) {
            LOGGER.log(Level.DEBUG, "NATS: " + error);
        }

        @Override
        public void exceptionOccurred(Connection connection, Exception failure) {
            LOGGER.log(Level.DEBUG, "NATS", failure);
        }
    }

    private void failed(Exception failure) {
        Duration wait;
        synchronized (lock) {
            if (closed) {
                return;
            }
            away(failure);
            wait = pause;
            pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : pause;
        }
        later(wait, this::connect);
    }

    /** Any thread; only the first one who notices counts. */
    private void lose(Session which, Throwable cause) {
        synchronized (lock) {
            if (which != session) {
                return;
            }
            session = null;
            if (!closed) {
                away(cause);
            }
        }
        publisher.lost();
        end(which);
        later(Duration.ZERO, this::connect);
    }

    /** Not on the thread of jnats that has told it, which this would wait for. */
    private static void end(Session which) {
        Thread.startVirtualThread(() -> {
            try {
                which.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Under the lock. */
    private void away(Throwable cause) {
        if (!toldAway) {
            toldAway = true;
            tell(() -> settings.listener().onAway(cause));
        }
    }

    private void tell(Runnable call) {
        synchronized (lock) {
            try {
                told = told.handleAsync(
                        (before, failure) -> {
                            call.run();
                            return null;
                        },
                        settings.manager());
            } catch (RejectedExecutionException e) {
                closed = true; // the manager has ended: there is nobody to tell
            }
        }
    }

    private void later(Duration delay, Runnable task) {
        try {
            settings.manager().schedule(delay, fired -> {
                if (fired) {
                    task.run();
                }
            });
        } catch (RejectedExecutionException e) {
            synchronized (lock) {
                closed = true;
            }
        }
    }

    // ---- What a backplane calls ----

    private interface Work<T> {
        T run() throws Exception;
    }

    /** Does something that waits for the server. */
    private <T> CompletableFuture<T> work(Session now, Work<T> what) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            worker.execute(() -> {
                synchronized (lock) {
                    if (now != session) {
                        result.completeExceptionally(new IllegalStateException("the connection was lost"));
                        return;
                    }
                }
                try {
                    result.complete(what.run());
                } catch (Throwable e) {
                    result.completeExceptionally(e);
                }
            });
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(e);
        }
        return result;
    }

    private <T> CompletableFuture<T> work(Function<Session, Work<T>> what) {
        Session now;
        synchronized (lock) {
            now = session;
        }
        return now == null
                ? CompletableFuture.failedFuture(new IllegalStateException("NATS is away"))
                : work(now, what.apply(now));
    }

    private String stream(String topic) {
        return StreamNames.of(settings.namespace(), topic);
    }

    @Override
    public CompletableFuture<Position> append(String topic, Envelope record) {
        return publisher.append(topic, record);
    }

    @Override
    public CompletableFuture<Page> last(String topic, int count) {
        return work(now -> () -> now.last(stream(topic), count));
    }

    @Override
    public CompletableFuture<Page> read(String topic, Position after, int count) {
        return work(now -> () -> now.read(stream(topic), after, count));
    }

    @Override
    public void follow(String topic, Position after, LogReader reader) {
        CompletableFuture<LogReader> following = work(now -> () -> {
            now.follow(stream(topic), after, reader);
            return reader;
        });
        var ignored = following.whenComplete((same, failure) -> {
            if (failure != null) {
                reader.onBroken();
            }
        });
    }

    @Override
    public void unfollow(String topic) {
        CompletableFuture<String> ignored = work(now -> () -> {
            now.unfollow(stream(topic));
            return topic;
        });
    }

    @Override
    public void remove(String topic) {
        publisher.remove(topic);
        CompletableFuture<String> removing = work(now -> () -> {
            now.delete(stream(topic));
            return topic;
        });
        var ignored = removing.whenComplete((same, failure) -> {
            if (failure != null) {
                LOGGER.log(Level.DEBUG, "the stream of " + topic + " was not deleted", failure);
            }
        });
    }

    /** Does not wait, but what was asked for before this is still done, such as deleting a stream. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
        }
        publisher.close();
        worker.execute(() -> {
            Session now;
            synchronized (lock) {
                now = session;
                session = null;
            }
            if (now != null) {
                end(now);
            }
        });
        worker.shutdown();
    }

    @Override
    public String toString() {
        return "NATS, node " + settings.node();
    }
}
