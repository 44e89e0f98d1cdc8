package io.millrace.redis;

import io.lettuce.core.KillArgs;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.millrace.backplane.Position;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The two connections to one server, from when it answers until one of them is lost: one for commands, one that is
 * subscribed to the channels of streams. A connection leads to one process, so what comes over it is of the run that it said at the beginning.
 */
final class Session {
    final StatefulRedisConnection<String, byte[]> commands;
    final StatefulRedisPubSubConnection<String, byte[]> waiting;
    final String run;
    final long commandsId;
    /** Whether the server has done what it was asked for: stored a record, or waited for one. */
    volatile boolean proven;
    /** Channels are the same in all databases of a server, and streams are not. */
    private final String suffix;

    private Session(
            StatefulRedisConnection<String, byte[]> commands,
            StatefulRedisPubSubConnection<String, byte[]> waiting,
            String run,
            long commandsId,
            int database) {
        this.commands = commands;
        this.waiting = waiting;
        this.run = run;
        this.commandsId = commandsId;
        this.suffix = "@" + database;
    }

    /** Asks the server who it is. */
    static CompletableFuture<Session> begin(
            StatefulRedisConnection<String, byte[]> commands,
            StatefulRedisPubSubConnection<String, byte[]> waiting,
            int database) {
        CompletableFuture<String> run =
                commands.async().info().thenApply(Session::usableRun).toCompletableFuture();
        CompletableFuture<Long> commandsId = commands.async().clientId().toCompletableFuture();
        return CompletableFuture.allOf(run, commandsId)
                .thenApply(all -> new Session(commands, waiting, run.join(), commandsId.join(), database));
    }

    /** Returns the run of a server that can be used now. */
    private static String usableRun(String info) {
        Map<String, String> facts = new HashMap<>();
        for (String line : info.split("\r?\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                facts.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        }
        if ("1".equals(facts.get("loading"))) {
            throw new IllegalStateException("Redis is reading its data from the disk, and answers when it has them");
        }
        if ("slave".equals(facts.get("role"))) {
            throw new IllegalStateException(
                    "this Redis is a replica, which takes no writes; use the address of its primary, "
                            + facts.get("master_host") + ":" + facts.get("master_port"));
        }
        String run = facts.get("run_id");
        if (run == null) {
            throw new IllegalStateException("INFO has no run_id; this needs a Redis server of version 7 or newer");
        }
        return run;
    }

    private RedisAsyncCommands<String, byte[]> async() {
        return commands.async();
    }

    /** Ends an older connection on the server's side: nothing that it has sent takes effect after this. */
    CompletionStage<Long> kill(long id) {
        return async().clientKill(KillArgs.Builder.id(id));
    }

    /** Completes when the server has it: whatever is published afterwards is sent. */
    CompletionStage<Void> subscribe(String key) {
        return waiting.async().subscribe(key + suffix);
    }

    /** Returns the stream that a channel belongs to. */
    String keyOf(String channel) {
        return channel.substring(0, Math.max(0, channel.length() - suffix.length()));
    }

    void unsubscribe(String key) {
        var ignored = waiting.async().unsubscribe(key + suffix);
    }

    /** Returns the end of a stream, which exists then and is of this run. */
    CompletionStage<Position> open(String key) {
        return async().<byte[]>eval(
                        Streams.OPEN, ScriptOutputType.VALUE, Streams.keys(key), run.getBytes(StandardCharsets.UTF_8))
                .thenApply(id -> Streams.position(new String(id, StandardCharsets.UTF_8)));
    }

    /** Completes with null if there is no such stream. */
    CompletionStage<String> add(String key, String epoch, byte[] bytes, int history) {
        return async().<byte[]>eval(
                        Streams.ADD,
                        ScriptOutputType.VALUE,
                        new String[] {key},
                        (epoch + "-*").getBytes(StandardCharsets.US_ASCII),
                        bytes,
                        Integer.toString(history).getBytes(StandardCharsets.US_ASCII),
                        (key + suffix).getBytes(StandardCharsets.UTF_8))
                .thenApply(id -> id == null ? null : new String(id, StandardCharsets.US_ASCII));
    }

    CompletionStage<List<StreamMessage<String, byte[]>>> range(String key, String after, int count) {
        return async().xrange(
                        key,
                        Range.from(Range.Boundary.excluding(after), Range.Boundary.unbounded()),
                        Limit.from(count));
    }

    CompletionStage<List<StreamMessage<String, byte[]>>> reverse(String key, int count) {
        return async().xrevrange(key, Range.unbounded(), Limit.from(count));
    }

    /** Whether the server has answered that this record was not stored because the stream is not what it was. */
    static boolean isStale(Throwable failure) {
        return failure instanceof RedisCommandExecutionException
                && String.valueOf(failure.getMessage()).contains("equal or smaller");
    }

    /** Whether the server has answered that it takes nothing now: it has become a replica, or reads its data. */
    static boolean isUnusable(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return failure instanceof RedisCommandExecutionException
                && (message.startsWith("LOADING")
                        || message.startsWith("READONLY")
                        || message.startsWith("MASTERDOWN"));
    }

    /** Whether the server still answers on both. */
    CompletionStage<String> ping() {
        return async().ping().thenCombine(waiting.async().ping(), (one, other) -> one);
    }

    boolean isOpen() {
        return commands.isOpen() && waiting.isOpen();
    }

    CompletionStage<Long> delete(String key) {
        return async().del(Streams.keys(key));
    }

    /** Lettuce logs a warning for each that is closed already. */
    void close() {
        if (commands.isOpen()) {
            var ignored = commands.closeAsync();
        }
        if (waiting.isOpen()) {
            var ignored = waiting.closeAsync();
        }
    }
}
