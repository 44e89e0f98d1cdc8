package io.millrace.engine.transport;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.Priority;
import io.millrace.engine.reactor.Alarm;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.vthread.LoopThreads;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.StreamListener;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A reactor as servers see it. */
public final class ReactorServerLoop implements ServerLoop {
    final Reactor reactor;
    private final Clock clock;
    private final Net net;
    final LoopBuffer buffer = new LoopBuffer();

    public ReactorServerLoop(Reactor reactor, Clock clock) {
        this.reactor = reactor;
        this.clock = clock;
        this.net = Net.of(reactor.poll);
    }

    @Override
    public Net net() {
        return net;
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
    public String toString() {
        return reactor.name();
    }
}
