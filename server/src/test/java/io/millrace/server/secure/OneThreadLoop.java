package io.millrace.server.secure;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.Acceptor;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.StreamListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** A loop that runs what it was given when a test says so, on the test's thread, and whose time the test sets. */
final class OneThreadLoop implements ServerLoop {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final Map<AlarmKey, AlarmCallback> alarms = new LinkedHashMap<>();
    long nanos;

    /** Runs everything. */
    void run() {
        for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
            next.run();
        }
    }

    boolean hasTasks() {
        return !tasks.isEmpty();
    }

    int alarms() {
        return alarms.size();
    }

    /** Has all alarms fire. */
    void fire() {
        Map<AlarmKey, AlarmCallback> due = new LinkedHashMap<>(alarms);
        alarms.clear();
        due.values().forEach(each -> each.onAlarm(true));
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void atEndOfTurn(Runnable what) {
        tasks.add(what);
    }

    @Override
    public void runSoon(Runnable what) {
        tasks.add(what);
    }

    @Override
    public AlarmKey schedule(long delayNanos, AlarmCallback callback) {
        AlarmKey key = new AlarmKey() {};
        alarms.put(key, callback);
        return key;
    }

    @Override
    public boolean rearm(AlarmKey key, long delayNanos) {
        return false;
    }

    @Override
    public void cancel(AlarmKey key) {
        AlarmCallback cancelled = alarms.remove(key);
        if (cancelled != null) {
            cancelled.onAlarm(false);
        }
    }

    @Override
    public long now() {
        return nanos;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    @Override
    public boolean inLoop() {
        return true;
    }

    @Override
    public boolean sharesBuffer() {
        return true;
    }

    @Override
    public boolean hasOtherThreads() {
        return false;
    }

    @Override
    public Net net() {
        return Net.nio();
    }

    @Override
    public String backend() {
        return "none";
    }

    @Override
    public ByteBuffer output() {
        throw new UnsupportedOperationException("nobody gathers here");
    }

    @Override
    public StreamTransport attach(ByteStream stream, TransportSink sink, int bufferSize) {
        throw new UnsupportedOperationException("there are no streams here");
    }

    @Override
    public Acceptor accept(StreamListener listener, Consumer<ByteStream> accepted, Consumer<IOException> failed) {
        throw new UnsupportedOperationException("there are no listeners here");
    }
}
