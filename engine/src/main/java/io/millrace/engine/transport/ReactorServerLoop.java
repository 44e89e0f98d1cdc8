package io.millrace.engine.transport;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.Metrics;
import io.millrace.engine.Priority;
import io.millrace.engine.reactor.Alarm;
import io.millrace.engine.reactor.MetricsView;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.vthread.LoopThreads;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.StreamListener;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Clock;
import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A reactor as servers see it. */
public final class ReactorServerLoop implements ServerLoop {
    final Reactor reactor;
    private final Clock clock;
    private final Net net;
    private final Consumer<Thread> waker;
    final LoopBuffer buffer = new LoopBuffer();

    public ReactorServerLoop(Reactor reactor, Clock clock) {
        this.reactor = reactor;
        this.clock = clock;
        this.net = Net.of(reactor.poll);
        this.waker = reactor::unparkSoon;
    }

    /**
     * Returns the counters of some loops together.
     *
     * @param loops of a server or client
     * @return empty if one of them is not a reactor's, but that of a foreign event manager
     */
    public static Optional<Metrics> metrics(List<? extends ServerLoop> loops) {
        Reactor[] reactors = new Reactor[loops.size()];
        for (int i = 0; i < reactors.length; i++) {
            if (!(loops.get(i) instanceof ReactorServerLoop ours)) {
                return Optional.empty();
            }
            reactors[i] = ours.reactor;
        }
        return Optional.of(new MetricsView(reactors));
    }

    @Override
    public void describe(StringBuilder text) {
        reactor.describe(text);
    }

    @Override
    public Net net() {
        return net;
    }

    /** Returns the reactor's poll, for a bridge that has to know its backend. */
    public Poll poll() {
        return reactor.poll;
    }

    @Override
    public String backend() {
        return reactor.poll.backend();
    }

    @Override
    public boolean inLoop() {
        return reactor.inLoop();
    }

    @Override
    public long now() {
        return reactor.inLoop() ? reactor.now() : clock.nanoTime();
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public ByteBuffer output() {
        return buffer.output();
    }

    @Override
    public void execute(Runnable task) {
        reactor.execute(task);
    }

    /**
     * Submits a task of a bridge. In its last turn, the reactor still runs it.
     *
     * @return false if the reactor has ended; then nothing was submitted
     */
    public boolean tryExecute(Runnable task) {
        return reactor.tryExecute(task, Priority.NORMAL);
    }

    /**
     * Watches a source for a bridge. Called on the loop.
     *
     * @param sink is told of its readiness, and of the end of the loop
     * @return to say which readiness is of interest; none at first
     */
    public SourceWatch watch(Source source, WatchSink sink) {
        return new SourceWatch(reactor, source, sink);
    }

    @Override
    public AlarmKey schedule(long delayNanos, AlarmCallback callback) {
        Alarm alarm = new Alarm(reactor, clock.nanoTime() + delayNanos, 0, 0, callback, Priority.NORMAL);
        reactor.schedule(alarm);
        return alarm;
    }

    @Override
    public boolean rearm(AlarmKey key, long delayNanos) {
        reactor.rearm((Alarm) key, clock.nanoTime() + delayNanos);
        return true;
    }

    @Override
    public void cancel(AlarmKey key) {
        reactor.cancel((Alarm) key);
    }

    @Override
    public void atEndOfTurn(Runnable what) {
        reactor.atEndOfTurn(what);
    }

    @Override
    public void runSoon(Runnable what) {
        reactor.runSoon(what);
    }

    @Override
    public boolean sharesBuffer() {
        return true;
    }

    @Override
    public StreamTransport attach(ByteStream stream, TransportSink sink, int bufferSize) {
        SocketTransport transport = new SocketTransport(this, stream, sink, bufferSize);
        transport.register();
        return transport;
    }

    @Override
    public DatagramTransport attach(UdpSocket socket, DatagramSink sink, int longest) {
        DatagramTransport transport = new DatagramTransport(this, socket, sink, longest);
        boolean attached = false;
        try {
            transport.register();
            // As for listeners: if this is accepted after the registration, the last turn will find the socket.
            reactor.execute(() -> {});
            attached = true;
        } catch (IllegalStateException e) {
            throw reactor.hasFinished()
                    ? new RejectedExecutionException("cannot receive: the event manager has shut down", e)
                    : e;
        } finally {
            if (!attached) {
                socket.close();
            }
        }
        return transport;
    }

    @Override
    public Acceptor accept(StreamListener listener, Consumer<ByteStream> accepted, Consumer<IOException> failed) {
        SocketAcceptor accepting = new SocketAcceptor(this, listener, accepted, failed);
        accepting.begin();
        return accepting;
    }

    @Override
    public @Nullable ThreadCarrier carrier() {
        return LoopThreads.isAvailable() ? reactor : null;
    }

    @Override
    public ThreadCarrier home() {
        return reactor;
    }

    @Override
    public Consumer<Thread> waker() {
        return waker;
    }

    @Override
    public String toString() {
        return reactor.name();
    }
}
