package io.millrace.engine.transport;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.StreamListener;
import io.millrace.net.UdpSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A loop as a server sees it. Any thread may call a method, unless it says otherwise. */
public interface ServerLoop extends Executor {
    /**
     * Returns the factory for sources that this loop can watch.
     *
     * @return native or NIO
     */
    Net net();

    /**
     * Returns the name of the backend.
     *
     * @return a human-readable name
     */
    String backend();

    /**
     * Describes what the loop is doing, for a dump. Takes no lock that the loop could hold.
     *
     * @param text to which lines are added
     */
    default void describe(StringBuilder text) {
        text.append(this)
                .append(": ")
                .append(backend())
                .append(", on an event manager that is not Millrace's, which may tell more\n");
    }

    /**
     * Returns whether the calling thread is the loop's.
     *
     * @return true in its callbacks
     */
    boolean inLoop();

    /**
     * Returns the time of this turn; on other threads, the current time.
     *
     * @return nanoseconds of the loop's clock
     */
    long now();

    /**
     * Returns the current time, even within a turn, for timeouts that must not be early by the length of a turn. Reads
     * the clock.
     *
     * @return nanoseconds of the loop's clock
     */
    long nanoTime();

    /**
     * Returns the buffer in which a connection of this loop gathers what its callback sends. It belongs to one
     * connection at a time, which empties it when its callback returns; a connection that does not find it empty must
     * not use it. On the loop only.
     *
     * @return always the same buffer; {@link StreamTransport#send(ByteBuffer)} recognizes it and sends it without a
     *     copy
     */
    ByteBuffer output();

    /**
     * Calls back on this loop after a delay.
     *
     * @param delayNanos from now
     * @param callback called with true; or with false if it is cancelled or the loop ends
     * @return a key to cancel it
     */
    AlarmKey schedule(long delayNanos, AlarmCallback callback);

    /**
     * Makes an alarm that has fired fire once more, without creating a new one. Called from the alarm's callback.
     *
     * @param key what {@link #schedule} returned
     * @param delayNanos from now
     * @return false if this loop does not support it; then schedule another alarm
     */
    boolean rearm(AlarmKey key, long delayNanos);

    /**
     * Cancels an alarm of this loop. Its callback is called with false inside this call.
     *
     * @param key what {@link #schedule} returned
     */
    void cancel(AlarmKey key);

    /**
     * Runs a task once at the end of this turn, after everything that is ready was served; or of one of the next turns,
     * if there are many tasks. In the order of the calls. On the loop only.
     *
     * @param what the task
     */
    void atEndOfTurn(Runnable what);

    /**
     * Runs a costly task, such as closing a connection, once at the end of this turn or of one of the next. A turn runs
     * only a few of them, so that other connections are served no matter how many are closed at once. In the order of
     * the calls. On the loop only.
     *
     * @param what the task
     */
    void runSoon(Runnable what);

    /**
     * Returns whether all connections of this loop read into one buffer, so that a large one costs them nothing.
     *
     * @return false if each has its own
     */
    boolean sharesBuffer();

    /**
     * Returns whether other threads may work for its connections.
     *
     * @return false if everything has to happen on the loop's own thread, as in a simulation
     */
    default boolean hasOtherThreads() {
        return true;
    }

    /**
     * Takes over a connection. On the loop only. The sink is not called before this returns.
     *
     * @param stream connected or connecting
     * @param sink receives the connection's bytes and events
     * @param bufferSize how many bytes {@link TransportSink#onReceived} gets at most
     * @return the transport, to send and close
     */
    StreamTransport attach(ByteStream stream, TransportSink sink, int bufferSize);

    /**
     * Takes over a UDP socket, which belongs to the loop from now on, also if this fails. Any thread; does not wait for
     * the loop.
     *
     * @param socket bound
     * @param sink gets the datagrams
     * @param longest how many bytes a datagram has at most, in either direction
     * @return the transport, to be used on the loop
     * @throws UnsupportedOperationException if this loop is on a manager that is not ours
     * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
     */
    default DatagramTransport attach(UdpSocket socket, DatagramSink sink, int longest) {
        socket.close();
        throw new UnsupportedOperationException("cannot serve datagrams on " + this
                + ": only Reactors and EventLoop can; leave out manager(), or pass one of them");
    }

    /**
     * Accepts connections, some in each turn, so that existing ones are served, too. If the process runs out of
     * descriptors, it turns away waiting connections and tries again later, without spinning. This does not wait for
     * the loop, which may be blocked or about to wait for the caller's; it starts to accept when it gets to it.
     *
     * @param listener belongs to the loop from now on: it is closed with the returned acceptor, when the loop ends, or
     *     if this fails
     * @param accepted called with each connection, on this loop
     * @param failed called when an accept fails, on this loop
     * @return the acceptor, to stop accepting
     * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
     */
    Acceptor accept(StreamListener listener, Consumer<ByteStream> accepted, Consumer<IOException> failed);

    /**
     * Returns what runs virtual threads on this loop's own thread.
     *
     * @return null if this loop or this JVM cannot
     */
    default @Nullable ThreadCarrier carrier() {
        return null;
    }

    /**
     * Returns the loop that the threads of its connections belong to, whether it can carry them or not.
     *
     * @return null if it is not a loop of ours
     */
    default @Nullable ThreadCarrier home() {
        return null;
    }

    /**
     * Returns what unparks threads that it does not carry: on any thread, but if this is the loop's own, perhaps only at
     * the end of its turn, together with others.
     *
     * @return always the same
     */
    default Consumer<Thread> waker() {
        return LockSupport::unpark;
    }
}
