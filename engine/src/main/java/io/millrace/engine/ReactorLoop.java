package io.millrace.engine;

import io.millrace.engine.transport.Acceptance;
import io.millrace.engine.transport.StreamTransport;
import io.millrace.engine.transport.TransportHandler;
import io.millrace.engine.transport.TransportLoop;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** A reactor as servers see it. */
final class ReactorLoop implements TransportLoop {
    final Reactor reactor;
    private final Clock clock;
    private final Net net;
    final LoopBuffer buffer = new LoopBuffer();

    ReactorLoop(Reactor reactor, Clock clock) {
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
    public void cancel(AlarmKey key) {
        reactor.cancel((Alarm) key);
    }

    @Override
    public void atEndOfTurn(Runnable what) {
        reactor.atEndOfTurn(what);
    }

    @Override
    public void soon(Runnable what) {
        reactor.soon(what);
    }

    @Override
    public boolean sharesBuffer() {
        return true;
    }

    @Override
    public StreamTransport attach(ByteStream stream, TransportHandler handler, int bufferSize) {
        StreamCarrier carrier = new StreamCarrier(this, stream, handler, bufferSize);
        carrier.register();
        return carrier;
    }

    @Override
    public Acceptance accept(TcpListener listener, Consumer<TcpStream> accepted, Consumer<IOException> failed) {
        Accepting accepting = new Accepting(this, listener, accepted, failed);
        accepting.begin();
        return accepting;
    }

    @Override
    public String toString() {
        return reactor.toString();
    }
}
