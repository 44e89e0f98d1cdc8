package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.testkit.Await;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A handler that counts what each connection is told of its beginning and its end. Every other call does nothing, unless it is overridden. */
class Calls implements ConnectionHandler {
    private final Map<Connection, AtomicInteger> connects = new ConcurrentHashMap<>();
    private final Map<Connection, AtomicInteger> disconnects = new ConcurrentHashMap<>();

    @Override
    public void onConnect(Connection connection) throws Exception {
        count(connects, connection);
    }

    @Override
    public void onData(Connection connection, ByteBuffer data) throws Exception {}

    @Override
    public void onEndOfInput(Connection connection) throws Exception {}

    @Override
    public void onDisconnect(Connection connection) throws Exception {
        count(disconnects, connection);
    }

    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {}

    private static void count(Map<Connection, AtomicInteger> calls, Connection connection) {
        calls.computeIfAbsent(connection, key -> new AtomicInteger()).incrementAndGet();
    }

    int connected() {
        return connects.size();
    }

    int disconnected() {
        return disconnects.size();
    }

    void awaitConnected(int count) {
        Await.until(count + " are connected, not " + connected(), () -> connected() >= count);
    }

    /** Each connection was told of its end, once. */
    void awaitAllEnded() {
        Await.until(
                "all of " + connects + " have ended, not only " + disconnects,
                () -> disconnected() == connected()
                        && disconnects.values().stream().allMatch(times -> times.get() > 0));
        assertThat(disconnects.keySet()).isEqualTo(connects.keySet());
        assertThat(disconnects.values()).allMatch(times -> times.get() == 1);
    }
}
