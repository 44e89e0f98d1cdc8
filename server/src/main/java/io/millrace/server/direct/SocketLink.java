package io.millrace.server.direct;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.engine.vthread.CarriedThread;
import io.millrace.engine.vthread.LoopThreads;
import io.millrace.engine.vthread.ThreadCarrier;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.LimitException;
import io.millrace.server.SendResult;
import io.millrace.server.connection.Conversing;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import io.millrace.server.support.ConnectionLog;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Connects a thread that blocks with a connection whose callbacks run on a loop.
 *
 * <h2>Two ways to wait</h2>
 *
 * A virtual thread that the connection's own loop carries shares the loop's thread: while it is mounted, nothing else
 * happens there. So it looks at what has arrived by itself, gathers small writes into the loop's output as a callback
 * does, and when it has to wait it parks; what the loop has to do for it is done after that, by its carrier. Bytes that
 * arrive are copied from the loop's buffer straight into the buffer that it waits with, and it continues within the
 * callback that got them.
 *
 * <p>Any other thread hands over to the loop what it wants, and is unparked by it. The handshake is the same, an {@link
 * Exchange}; a thread may change from one way to the other between two calls, and does when its loop ends.
 *
 * <h2>Bytes that nobody waits for</h2>
 *
 * What arrives while no thread reads is kept, and the connection is not read until a thread asks for more than that. So
 * a connection holds at most one read of its loop.
 *
 * <p><b>Threads.</b> Fields say which thread they belong to. One thread at a time may read, and one may write.
 */
public final class SocketLink implements ConnectionHandler, Conversing, Runnable {
    /** What {@link #read} returns at the end of the input. */
    public static final int END = -1;

    /** How much is sent at once by the loop itself, where what the system takes is not copied. */
    private static final int PIECE = 256 * 1024;
    /** How much is handed over to the loop at once. */
    private static final int HANDED_OVER = 64 * 1024;

    /** How many causes of an exception are looked at: there may be a circle. */
    private static final int MOST_CAUSES = 100;

    private static final VarHandle TOLD;

    static {
        try {
            TOLD = MethodHandles.lookup().findVarHandle(SocketLink.class, "told", Told.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** What a connection's own thread runs. */
    public interface Talk {
        void talk(SocketLink link) throws Exception;
    }

    private final StreamConnection connection;
    private final ServerLoop loop;
    private final @Nullable ThreadCarrier carrier;
    private final @Nullable Talk talk;
    private final Runnable flush;
    private final Exchange reading;
    private final Exchange writing;
    /** Its own thread; null of a client. Written before the thread starts. */
    private volatile @Nullable Thread own;
    /** Whether the deadline of a shutdown has passed. */
    private volatile boolean cut;

    // ---- Written by the loop ----
    /** Bytes that nobody has waited for. Also used by a thread that the loop carries. */
    private @Nullable ByteBuffer kept;

    private boolean paused;
    private @Nullable AlarmKey alarm;
    private int alarmNumber;
    /** Whether there is an alarm, and for when. */
    private volatile boolean alarmed;

    private volatile long alarmAt;

    private volatile boolean inputEnded;
    private volatile boolean ended;
    private volatile boolean shuttingDown;
    private volatile @Nullable Throwable failure;

    // ---- Written by any thread ----
    private volatile boolean closed;
    /** The exceptions that told of this connection's end or of a limit. */
    private volatile @Nullable Told told;

    /**
     * Creates a link.
     *
     * @param carried whether its threads run on the loop, if the JVM allows it
     * @param talk what its own thread runs; null if it has none
     */
    public SocketLink(Connection connection, boolean carried, @Nullable Talk talk) {
        this.connection = (StreamConnection) connection;
        this.loop = this.connection.loop();
        this.reading = new Exchange(loop.waker());
        this.writing = new Exchange(loop.waker());
        this.carrier = carried ? loop.carrier() : null;
        this.talk = talk;
        this.flush = this.connection::flushGathered;
    }

    // ---- Its own thread ----

    @Override
    public void onConnect(Connection opened) {
        if (talk == null) {
            return;
        }
        Connections all = (Connections) connection.server();
        if (!all.tryEnter(this)) {
            connection.abort(); // the server is being closed
            return;
        }
        boolean started = false;
        try {
            String name = "millrace-conversation-" + connection.id();
            if (carrier == null) {
                Thread thread = LoopThreads.elsewhere(name, LoopThreads.at(loop.home(), this::converse));
                own = thread;
                thread.start();
            } else {
                CarriedThread thread = new CarriedThread(carrier, name, this::converse);
                own = thread.thread();
                thread.start();
            }
            started = true;
        } finally {
            if (!started) {
                all.exit(this);
            }
        }
    }

    private void converse() {
        Connections all = (Connections) connection.server();
        if (cut) {
            Thread.currentThread().interrupt(); // before there was a thread
        }
        try {
            if (talk != null) {
                talk.talk(this);
            }
        } catch (Throwable e) {
            report(e);
        } finally {
            Thread.interrupted(); // what was meant for the conversation must not disturb its end
            try {
                close();
            } finally {
                all.exit(this); // whatever that throws: the server's end waits for this
            }
        }
    }

    private void report(Throwable thrown) {
        ConnectionLog log = ConnectionLog.standard();
        if (shuttingDown || isTold(thrown)) {
            log.log(ConnectionLog.Kind.PEER, thrown, "the conversation on ", connection, " ended early");
        } else {
            log.log(ConnectionLog.Kind.CALLBACK, thrown, "the conversation on ", connection, " threw; closing it");
        }
    }

    private boolean isTold(Throwable thrown) {
        Throwable at = thrown;
        for (int i = 0; at != null && i < MOST_CAUSES; i++) {
            for (Told one = told; one != null; one = one.before) {
                if (one.thrown.refersTo(at)) {
                    return true;
                }
            }
            at = at.getCause();
        }
        return false;
    }

    @Override
    public void onShutdown() {
        shuttingDown = true;
    }

    public boolean isShuttingDown() {
        return shuttingDown;
    }

    @Override
    public void cutShort() {
        shuttingDown = true;
        cut = true;
        Thread thread = own; // not earlier: one of this and the thread sees the other
        if (thread != null) {
            thread.interrupt();
        }
        connection.abort();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    public boolean isCurrentThread() {
        return own == Thread.currentThread();
    }

    @Override
    public StreamConnection connection() {
        return connection;
    }

    // ---- Callbacks, on the loop ----

    @Override
    public void onData(Connection from, ByteBuffer data) {
        if (kept == null && reading.begin()) {
            answerWith(data);
            return;
        }
        if (keep(data)) {
            run(); // opened before it could see that there is something
        }
    }

    /** Answers with bytes of the loop's buffer. Those for which there is no room are kept. */
    private void answerWith(ByteBuffer data) {
        int count;
        ByteBuffer own = null;
        try {
            ByteBuffer target = reading.target();
            if (target == null) {
                own = copyOf(data);
                count = own.remaining();
            } else {
                count = move(data, target);
                if (data.hasRemaining()) {
                    keep(data);
                }
            }
        } catch (Throwable e) {
            reading.putBack(); // there may be no memory: the connection fails, and its end tells the thread
            throw e;
        }
        reading.complete(count, own, null);
    }

    private static ByteBuffer copyOf(ByteBuffer data) {
        return ByteBuffer.allocate(data.remaining()).put(data).flip();
    }

    private static int move(ByteBuffer from, ByteBuffer to) {
        int count = Math.min(from.remaining(), to.remaining());
        to.put(to.position(), from, from.position(), count);
        to.position(to.position() + count);
        from.position(from.position() + count);
        return count;
    }

    /** Keeps bytes, and returns whether a thread waits for them. */
    private boolean keep(ByteBuffer data) {
        ByteBuffer before = kept;
        if (before == null) {
            kept = copyOf(data);
        } else {
            kept = ByteBuffer.allocate(before.remaining() + data.remaining())
                    .put(before)
                    .put(data)
                    .flip();
        }
        paused = true;
        connection.pauseReads();
        return reading.announce();
    }

    @Override
    public void onEndOfInput(Connection from) {
        inputEnded = true;
        if (reading.announce()) {
            run();
        }
    }

    @Override
    public void onWritable(Connection from) {
        if (writing.begin()) {
            writing.complete(0, null, null);
        }
    }

    @Override
    public void onDisconnect(Connection from) {
        ended = true;
        boolean waits = reading.announce();
        waits |= writing.announce();
        alarmNumber++;
        AlarmKey present = alarm;
        alarm = null;
        if (present != null) {
            loop.cancel(present);
        }
        if (waits) {
            run();
        }
    }

    /** What went wrong is thrown by what the thread does next. */
    @Override
    public void onError(@Nullable Connection from, Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        if (cause instanceof LimitException || !(cause instanceof IOException)) {
            ConnectionLog.standard().logByDefault(this, from, cause);
        }
    }

    /**
     * Answers the threads that wait, if there is an answer, and else sees to it that there will be one. On the loop; or,
     * if that has ended and the connection with it, on a thread that would wait.
     */
    @Override
    public void run() {
        if (reading.isWaiting()) {
            serveReader();
        }
        if (writing.isWaiting()) {
            if (closed || ended) {
                if (writing.begin()) {
                    writing.complete(END, null, closedException("write to"));
                }
            } else {
                watch(writing);
            }
        }
    }

    private void serveReader() {
        if (kept != null || inputEnded || ended || closed) {
            if (reading.begin()) {
                answerReader();
            }
        } else {
            reading.retract();
            if (paused) {
                paused = false;
                connection.resumeReads();
            }
            watch(reading);
        }
    }

    /** Answers with what was kept, or with the end. Between {@link Exchange#begin} and {@link Exchange#complete}. */
    private void answerReader() {
        ByteBuffer bytes = kept; // not earlier: when the loop has ended, any of the connection's threads may get here
        if (bytes == null) {
            reading.complete(END, null, inputEnded && !closed ? null : closedException("read from"));
            return;
        }
        ByteBuffer target = reading.target();
        if (target == null) {
            kept = null;
            reading.complete(bytes.remaining(), bytes, null);
        } else {
            int count = move(bytes, target);
            if (!bytes.hasRemaining()) {
                kept = null;
            }
            reading.complete(count, null, null);
        }
    }

    // ---- Time, on the loop ----

    /** Sees to it that there is an alarm at the deadline or before. */
    private void watch(Exchange waiting) {
        if (!waiting.isLimited() || isWatched(waiting.deadline())) {
            return;
        }
        AlarmKey present = alarm;
        alarmNumber++;
        alarm = null;
        if (present != null) {
            loop.cancel(present);
        }
        schedule(waiting.deadline());
    }

    private boolean isWatched(long deadline) {
        return alarmed && alarmAt - deadline <= 0;
    }

    private void schedule(long deadline) {
        int number = ++alarmNumber;
        alarmAt = deadline;
        alarmed = true;
        try {
            alarm = loop.schedule(Math.max(0, deadline - loop.nanoTime()), fired -> {
                if (number == alarmNumber) {
                    onAlarm();
                }
            });
        } catch (RejectedExecutionException e) {
            alarmed = false; // the loop is in its last turn, which ends the connection
        }
    }

    /** One alarm serves all calls: a call that ends in time leaves it behind for the next one. */
    private void onAlarm() {
        alarm = null;
        alarmed = false; // before it looks for those that wait: see Exchange
        long now = loop.nanoTime();
        expire(reading, now, "read from");
        expire(writing, now, "write to");
        if (reading.isWaiting()) {
            watch(reading);
        }
        if (writing.isWaiting()) {
            watch(writing);
        }
    }

    private void expire(Exchange waiting, long now, String doing) {
        if (waiting.isWaiting() && waiting.isLimited() && now - waiting.deadline() >= 0 && waiting.begin()) {
            if (waiting.isLimited() && now - waiting.deadline() >= 0) {
                waiting.complete(END, null, timeout(doing));
            } else {
                waiting.putBack(); // another one, which was opened in between
            }
        }
    }

    // ---- Failures ----

    private IOException timeout(String doing) {
        return tell(new SocketTimeoutException("cannot " + doing + " " + connection + ": the time limit has passed"));
    }

    private IOException closedException(String doing) {
        Throwable cause = failure;
        String text = "cannot " + doing + " " + connection + ": ";
        IOException thrown;
        if (closed) {
            thrown = new SocketException(text + "it was closed by this side");
        } else if (cause instanceof SocketTimeoutException) {
            thrown = new SocketTimeoutException(text + cause.getMessage());
        } else {
            String why = isOutputClosed() ? "its output was closed by this side" : "it has ended";
            thrown = new SocketException(text + (cause == null ? why : "it has failed: " + cause.getMessage()));
        }
        if (cause != null) {
            thrown.initCause(cause);
        }
        return tell(thrown);
    }

    public IOException interrupted(String doing) {
        Thread.currentThread().interrupt();
        return tell(new InterruptedIOException("cannot " + doing + " " + connection + ": the thread was interrupted"));
    }

    /**
     * Notes an exception that tells of the peer, so that a conversation that does not catch it is no mistake. Any thread:
     * one that reads and one that writes may be told at the same time, and a conversation may be told again while it
     * cleans up after the exception that it throws.
     */
    public <E extends IOException> E tell(E thrown) {
        for (; ; ) {
            Told before = told;
            Told live = before;
            while (live != null && live.thrown.refersTo(null)) {
                live = live.before;
            }
            if (TOLD.compareAndSet(this, before, new Told(new WeakReference<>(thrown), live))) {
                return thrown;
            }
        }
    }

    /** An exception that is known as long as somebody else has it, and the one before it. */
    private record Told(
            WeakReference<Throwable> thrown, @Nullable Told before) {}

    // ---- The thread that uses it ----

    /** Returns the calling thread, if this connection's loop carries it. */
    public @Nullable CarriedThread carried() {
        if (carrier == null) {
            return null;
        }
        CarriedThread thread = carrier.carried();
        return thread != null && thread.isCurrent() ? thread : null;
    }

    public long nanoTime() {
        return loop.nanoTime();
    }

    /** Counts a call that did not have to wait: see {@link CarriedThread#countCall}. */
    public void countCall() {
        CarriedThread me = carried();
        if (me != null) {
            me.countCall();
        }
    }

    /** What a read got. One for each thread that reads, or for each link: see {@link #read}. */
    public static final class Bytes {
        private final Exchange.Answer answer = new Exchange.Answer();

        /** Hands over what came in a buffer of its own, once: a thread that waits for more need not keep it. */
        public @Nullable ByteBuffer take() {
            ByteBuffer came = answer.came;
            answer.came = null;
            return came;
        }
    }

    /**
     * Waits for bytes.
     *
     * @param target where they go; null if they are to come in a buffer of their own
     * @param limited whether there is a deadline
     * @param deadline by the loop's clock
     * @return how many came, at least one unless the target is full; or {@link #END}
     */
    public int read(@Nullable ByteBuffer target, boolean limited, long deadline, Bytes into) throws IOException {
        if (closed) {
            throw closedException("read from");
        }
        CarriedThread me = carried();
        if (me != null) {
            ByteBuffer bytes = kept;
            if (bytes != null || inputEnded) {
                int count = bytes == null ? END : takeKept(bytes, target, into);
                me.countCall();
                return count;
            }
        }
        if (reading.open(me, target, limited, deadline) || ended || closed || (limited && !isWatched(deadline))) {
            askLoop(me);
        }
        await(reading, "read from");
        return reading.take(into.answer);
    }

    /** Takes what was kept, on a thread that the loop carries. None of this can make the thread leave it. */
    private int takeKept(ByteBuffer bytes, @Nullable ByteBuffer target, Bytes into) {
        if (target == null) {
            kept = null;
            into.answer.came = bytes;
            return bytes.remaining();
        }
        int count = move(bytes, target);
        if (!bytes.hasRemaining()) {
            kept = null;
        }
        return count;
    }

    /** Has the loop look at what the calling thread waits for. */
    private void askLoop(@Nullable CarriedThread me) {
        if (me != null) {
            me.afterPark(this);
            return;
        }
        try {
            loop.execute(this);
        } catch (RejectedExecutionException e) {
            // The loop is ending or has ended. If the connection has, nobody else answers.
            if (ended) {
                run();
            }
        }
    }

    private void await(Exchange waiting, String doing) throws IOException {
        if (loop.inLoop() && waiting.withdraw()) { // it would wait for ever: nothing here comes to pass meanwhile
            throw new IllegalStateException("cannot wait to " + doing + " " + connection
                    + " on the thread of its loop, which has to go on; use a virtual thread, or a TcpClient there");
        }
        boolean interrupted = false;
        while (!waiting.isDone()) {
            LockSupport.park(this);
            if (interrupted || Thread.interrupted()) {
                interrupted = true;
                if (waiting.withdraw()) {
                    throw interrupted(doing);
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Sends bytes, and waits while too much is waiting to be sent.
     *
     * @param data its position advances to its limit
     */
    public void write(ByteBuffer data, boolean limited, long deadline) throws IOException {
        do {
            CarriedThread me = carried();
            SendResult sent = me == null ? null : gather(me, data);
            if (sent == null) {
                sent = sendPiece(me, data);
            }
            if (sent == SendResult.CLOSED) {
                throw closedException("write to");
            }
            if (sent == SendResult.ABOVE_HIGH_WATER) {
                awaitWritable(limited, deadline);
            } else if (me != null) {
                me.countCall();
            }
        } while (data.hasRemaining());
    }

    private @Nullable SendResult gather(CarriedThread me, ByteBuffer data) {
        SendResult result = connection.tryGather(data);
        if (result != null) {
            me.flushAfterwards(flush);
        }
        return result;
    }

    private SendResult sendPiece(@Nullable CarriedThread me, ByteBuffer data) {
        int limit = data.limit();
        try {
            if (me != null) {
                data.limit(data.position() + Math.min(data.remaining(), PIECE)); // which cannot overflow
                Piece piece = new Piece(connection, data);
                if (me.onCarrier(piece)) {
                    return piece.result;
                }
            }
            data.limit(data.position() + Math.min(data.remaining(), HANDED_OVER));
            return connection.send(data);
        } finally {
            data.limit(limit);
        }
    }

    /** A piece that the loop sends while its thread stands aside. */
    private static final class Piece implements Runnable {
        private final StreamConnection connection;
        private final ByteBuffer data;
        private SendResult result = SendResult.CLOSED;

        Piece(StreamConnection connection, ByteBuffer data) {
            this.connection = connection;
            this.data = data;
        }

        @Override
        public void run() {
            result = connection.send(data);
        }
    }

    /** Waits until no more than the low-water mark waits to be sent. */
    public void awaitWritable(boolean limited, long deadline) throws IOException {
        CarriedThread me = carried();
        boolean announced = writing.open(me, null, limited, deadline);
        if ((connection.isWritable() || isOutputClosed()) && writing.withdraw()) {
            return;
        }
        if (announced || (limited && !isWatched(deadline))) {
            askLoop(me);
        }
        await(writing, "write to");
        writing.take(new Exchange.Answer());
    }

    /** Returns whether the output was closed and nothing else: then the loop may have told for the last time that there is room. */
    private boolean isOutputClosed() {
        return connection.refuses() && !connection.isClosed();
    }

    /** Waits until a future of the output is done. */
    public void awaitWritten(CompletableFuture<Void> written, boolean limited, long deadline) throws IOException {
        AtomicBoolean waits = new AtomicBoolean(true);
        var ignored = written.whenComplete((done, failure) -> {
            if (waits.get()) {
                onWritable(connection);
            }
        });
        try {
            while (!written.isDone()) {
                awaitOnce(written, limited, deadline);
            }
        } finally {
            waits.set(false); // or it would wake the thread when that waits for something else
        }
    }

    private void awaitOnce(CompletableFuture<Void> written, boolean limited, long deadline) throws IOException {
        CarriedThread me = carried();
        boolean announced = writing.open(me, null, limited, deadline);
        if (written.isDone() && writing.withdraw()) {
            return;
        }
        if (announced || (limited && !isWatched(deadline))) {
            askLoop(me);
        }
        await(writing, "flush");
        try {
            writing.take(new Exchange.Answer());
        } catch (IOException e) {
            if (!written.isDone()) {
                throw e;
            }
        }
    }

    /** Closes after pending output was sent. A thread that waits is woken. Any thread. */
    public void close() {
        closed = true;
        CarriedThread me = carried();
        if (me == null || !me.onCarrier(connection::close)) {
            connection.close();
        }
        wakeThreads();
    }

    private void wakeThreads() {
        boolean waits = reading.announce();
        waits |= writing.announce();
        if (waits) {
            askLoop(null);
        }
    }

    /** Closes at once; the peer sees a reset. Any thread. */
    public void reset() {
        closed = true;
        connection.reset();
        wakeThreads();
    }

    public boolean isClosed() {
        return closed || ended || connection.isClosed();
    }

    @Override
    public String toString() {
        return "the conversation on " + connection + ", on " + loop;
    }
}
