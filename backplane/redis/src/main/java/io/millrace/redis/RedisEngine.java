package io.millrace.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.millrace.backplane.Position;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineSettings;
import io.millrace.backplane.spi.Envelope;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.millrace.backplane.spi.StoredRecord;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A backplane over Redis Streams: connects, and connects again. While there is a {@link Session}, {@link Appender} and
 * {@link Follower} use it. Whoever notices that it is lost says so here, once for each.
 *
 * <p>A server that is silent is taken for lost: both connections are pinged each second.
 */
final class RedisEngine implements Engine {
    private static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration CHECK = Duration.ofSeconds(1);
    private static final Duration SILENCE = Duration.ofSeconds(5);
    /** How long connecting may take. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** The id of a connection that there never is. */
    private static final long NOBODY = Long.MAX_VALUE;

    private final EngineSettings settings;
    private final RedisURI uri;
    private final Loops loops;
    private final RedisClient client;
    private final Appender appender;
    private final Follower follower;

    private final Object lock = new Object();
    private @Nullable Session session;
    /** Of the session before. */
    private String lastRun = "";

    private long lastCommandsId = -1;
    private Duration pause = FIRST_PAUSE;
    private boolean toldAway;
    private boolean closed;
    private long pingedAt;
    private boolean pinged;
    /** The listener's calls, one after the other. */
    private CompletableFuture<Void> told = CompletableFuture.completedFuture(null);

    RedisEngine(EngineSettings settings, RedisURI uri) {
        this.settings = settings;
        this.uri = uri;
        this.loops = new Loops(settings.manager());
        this.client = new LoopClient(loops, uri);
        this.appender = new Appender(settings.namespace(), settings.node(), settings.history(), this::lose);
        this.follower = new Follower(this::lose);
    }

    @Override
    public void start() {
        connect();
        later(CHECK, this::check);
    }

    // ---- Connecting ----

    private void connect() {
        synchronized (lock) {
            if (closed) {
                return;
            }
        }
        CompletableFuture<StatefulRedisConnection<String, byte[]>> commands =
                connection(() -> client.connectAsync(CODEC, uri));
        CompletableFuture<StatefulRedisPubSubConnection<String, byte[]>> waiting =
                connection(() -> client.connectPubSubAsync(CODEC, uri));
        CompletableFuture<Session> attempt = commands.thenCompose(
                        one -> waiting.thenCompose(two -> Session.begin(one, two, uri.getDatabase())))
                .thenCompose(this::endPredecessor);
        // A server that falls silent while it is greeted would be waited for until the system gives up, in a quarter of
        // an
        // hour.
        later(
                PATIENCE,
                () -> attempt.completeExceptionally(
                        new TimeoutException("no answer for " + PATIENCE.toSeconds() + " s")));
        var ignored = attempt.whenComplete((next, failure) -> {
            if (failure == null) {
                established(next);
            } else {
                closeBoth(commands, waiting);
                failed(failure);
            }
        });
    }

    private static <T> CompletableFuture<T> connection(Supplier<CompletionStage<T>> begin) {
        try {
            return begin.get().toCompletableFuture();
        } catch (RuntimeException e) { // its threads have ended, or it cannot begin
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Those that stand. */
    private static void closeBoth(
            CompletableFuture<StatefulRedisConnection<String, byte[]>> one,
            CompletableFuture<StatefulRedisPubSubConnection<String, byte[]>> two) {
        var ignored = CompletableFuture.allOf(
                one.thenCompose(StatefulRedisConnection::closeAsync),
                two.thenCompose(StatefulRedisConnection::closeAsync));
    }

    /**
     * So that nothing of it takes effect behind what the new one finds. The first one kills nobody, so that a user who may
     * not kill learns it when he begins, and not when he has lost a connection.
     */
    private CompletionStage<Session> endPredecessor(Session next) {
        long id;
        synchronized (lock) {
            id = next.run.equals(lastRun) ? lastCommandsId : NOBODY;
        }
        return next.kill(id).thenApply(killed -> next);
    }

    private void established(Session next) {
        boolean sameRun;
        synchronized (lock) {
            if (closed) {
                next.close();
                return;
            }
            session = next;
            sameRun = next.run.equals(lastRun);
            lastRun = next.run;
            lastCommandsId = next.commandsId;
            toldAway = false;
            pinged = false;
        }
        RedisConnectionStateListener watch = new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                lose(next, new IllegalStateException("the connection was closed"));
            }
        };
        next.commands.addListener(watch);
        next.waiting.addListener(watch);
        next.waiting.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, byte[] bytes) {
                follower.published(next, next.keyOf(channel), bytes);
            }
        });
        follower.begin(next);
        appender.begin(next, sameRun);
        tell(() -> settings.listener().onConnected());
        if (!next.isOpen()) {
            lose(next, new IllegalStateException("the connection was closed at once"));
        }
    }

    private void failed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        Duration wait;
        synchronized (lock) {
            if (closed) {
                return;
            }
            away(cause);
            wait = pause;
            growPause();
        }
        later(wait, this::connect);
    }

    /** Any thread; only the first one who notices counts. */
    private void lose(Session which, Throwable cause) {
        Duration wait;
        synchronized (lock) {
            if (which != session) {
                return;
            }
            session = null;
            if (which.proven) {
                pause = FIRST_PAUSE;
                wait = Duration.ZERO;
            } else {
                wait = pause; // a server that lets us in and refuses everything is not to be asked all the time
                growPause();
            }
            if (!closed) {
                away(cause);
            }
        }
        follower.lost();
        appender.lost();
        which.close();
        later(wait, this::connect);
    }

    /** Under the lock. */
    private void growPause() {
        pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : pause;
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

    private void check() {
        Session now;
        boolean silent;
        synchronized (lock) {
            if (closed) {
                return;
            }
            now = session;
            long time = settings.manager().clock().nanoTime();
            silent = pinged && time - pingedAt > SILENCE.toNanos();
            if (now != null && !pinged) {
                pinged = true;
                pingedAt = time;
                var ignored = now.ping().whenComplete((pong, failure) -> answeredPing(now));
            }
        }
        if (now != null && silent) {
            lose(now, new IllegalStateException("no answer for " + SILENCE.toSeconds() + " s"));
        }
        later(CHECK, this::check);
    }

    private void answeredPing(Session of) {
        synchronized (lock) {
            if (of == session) {
                pinged = false;
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

    @Override
    public CompletableFuture<Position> append(String topic, Envelope record) {
        return appender.append(topic, record);
    }

    private CompletableFuture<Page> ask(String topic, BiFunction<Session, String, CompletionStage<Page>> question) {
        Session now;
        synchronized (lock) {
            now = session;
        }
        if (now == null) {
            return CompletableFuture.failedFuture(new IllegalStateException("Redis is away"));
        }
        return question.apply(now, Streams.key(settings.namespace(), topic)).toCompletableFuture();
    }

    @Override
    public CompletableFuture<Page> last(String topic, int count) {
        return ask(
                topic,
                (now, key) -> now.open(key).thenCompose(end -> {
                    if (count == 0) {
                        return CompletableFuture.completedFuture(new Page(end, List.of(), end, true));
                    }
                    return now.reverse(key, count).thenApply(found -> {
                        List<StoredRecord> records = Streams.records(found).reversed();
                        Position start = records.isEmpty()
                                ? end
                                : before(records.getFirst().position());
                        return new Page(start, records, end(records, end), true);
                    });
                }));
    }

    private static Position before(Position position) {
        return new Position(position.epoch(), position.offset() - 1);
    }

    /** The end of the log when it was opened, or what has come since. */
    private static Position end(List<StoredRecord> records, Position opened) {
        if (records.isEmpty()) {
            return opened;
        }
        Position last = records.getLast().position();
        return Streams.isBehind(last, opened) ? last : opened;
    }

    @Override
    public CompletableFuture<Page> read(String topic, Position after, int count) {
        return ask(
                topic,
                (now, key) -> now.open(key)
                        .thenCompose(end -> now.range(key, Streams.id(after), count)
                                .thenApply(found -> {
                                    List<StoredRecord> records = Streams.records(found);
                                    boolean complete = found.size() < count;
                                    return new Page(
                                            after,
                                            records,
                                            complete
                                                    ? end(records, end)
                                                    : Streams.position(
                                                            found.getLast().getId()),
                                            complete);
                                })));
    }

    @Override
    public void follow(String topic, Position after, LogReader reader) {
        follower.follow(Streams.key(settings.namespace(), topic), after, reader);
    }

    @Override
    public void unfollow(String topic) {
        follower.unfollow(Streams.key(settings.namespace(), topic));
    }

    @Override
    public void remove(String topic) {
        Session now;
        synchronized (lock) {
            now = session;
        }
        appender.remove(topic);
        if (now != null) {
            var ignored = now.delete(Streams.key(settings.namespace(), topic));
        }
    }

    @Override
    public void close() {
        Session now;
        synchronized (lock) {
            closed = true;
            now = session;
            session = null;
        }
        follower.lost();
        appender.close();
        if (now != null) {
            now.close();
        }
        var ignored = client.shutdownAsync();
        loops.end();
    }

    @Override
    public String toString() {
        Session now;
        synchronized (lock) {
            now = session;
        }
        return "Redis at " + uri.getHost() + ":" + uri.getPort() + (now == null ? ", away" : ", run " + now.run);
    }
}
