package io.millrace.engine.transport;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.net.ByteStream;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** One reactor, as a server sees it. What is not marked otherwise may be called by any thread. */
public interface ServerLoop extends Executor {
    /**
     * Makes the sources that this loop can watch.
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
     * Whether the calling thread is the loop's.
     *
     * @return true in its callbacks
     */
    boolean inLoop();

    /**
     * The time of this turn, or of now elsewhere.
     *
     * @return nanoseconds of the loop's clock
     */
    long now();

    /**
     * The time of now, also within a turn: for what must not be early by the length of a turn. Costs a look at the clock.
     *
     * @return nanoseconds of the loop's clock
     */
    long nanoTime();

    /**
     * Where a connection of this loop gathers what its callback sends. It is one connection's at a time, which empties it when its callback returns; who finds it not
     * empty does without. On the loop only.
     *
     * @return always the same one; {@link StreamTransport#send(ByteBuffer)} knows it, and sends it without a copy
     */
    ByteBuffer output();

    /**
     * Calls back on this loop after some time.
     *
     * @param delayNanos from now
     * @param callback gets true; or false if it is cancelled or the loop ends
     * @return to cancel it
     */
    AlarmKey schedule(long delayNanos, AlarmCallback callback);

    /**
     * In the callback of an alarm that has fired: it fires once more, without a new alarm.
     *
     * @param key what {@link #schedule} returned
     * @param delayNanos from now
     * @return false if this loop's alarms fire once only: then schedule another one
     */
    boolean again(AlarmKey key, long delayNanos);

    /**
     * Cancels an alarm of this loop; its callback gets false here and now.
     *
     * @param key what {@link #schedule} returned
     */
    void cancel(AlarmKey key);

    /**
     * Runs something at the end of this turn, after all that is ready was served; or of one of the next if there is much to run. In the order of the calls. On the loop only.
     *
     * @param what once
     */
    void atEndOfTurn(Runnable what);

    /**
     * Runs something costly, such as the end of a connection, at the end of this turn or of one of the next. A turn runs a few of these, so that the others are served meanwhile however many
     * connections end at once. In the order of the calls. On the loop only.
     *
     * @param what once
     */
    void soon(Runnable what);

    /**
     * Whether all its connections are read into one buffer, so that a large one costs none of them anything.
     *
     * @return false if each has its own
     */
    boolean sharesBuffer();

    /**
     * Carries a connection from now on. On the loop only. Nothing is told before this returns.
     *
     * @param stream connected, or being connected
     * @param handler is told
     * @param bufferSize how many bytes {@link TransportHandler#received} gets at most
     * @return to send and close
     */
    StreamTransport attach(ByteStream stream, TransportHandler handler, int bufferSize);

    /**
     * Accepts connections, some at each turn, so that those that are there are served too. If the process runs out of descriptors it turns away who waits,
     * and tries again; it does not spin. Does not wait for the loop, which may be held up, or be about to wait for the caller's: it accepts when it gets to it.
     *
     * @param listener the loop's from now on: closed with the returned one, or when the loop ends; also if this fails
     * @param accepted gets each connection, on this loop
     * @param failed gets what goes wrong, on this loop
     * @return to stop accepting
     * @throws java.util.concurrent.RejectedExecutionException if the loop has ended
     */
    Acceptor accept(TcpListener listener, Consumer<TcpStream> accepted, Consumer<IOException> failed);
}
