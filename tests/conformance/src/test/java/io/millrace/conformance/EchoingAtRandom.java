package io.millrace.conformance;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.SendResult;
import io.millrace.testkit.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends everything back, each time in another way: in the callback, by a task, from another thread, as a file; it pauses
 * and resumes, switches framings, and ends in different ways. Says what it should not have been told.
 */
final class EchoingAtRandom implements ConnectionHandler {
    /** How the last bytes went; while some are under way, what follows goes the same way, so that it stays behind. */
    private enum By {
        CALLBACK,
        TASK,
        THREAD
    }

    private final Random random;
    private final int size;
    private final ExecutorService helper;
    private final Path directory;
    private final boolean breaks;

    private final AtomicBoolean inside = new AtomicBoolean();
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger promised = new AtomicInteger();
    private final AtomicInteger kept = new AtomicInteger();
    private volatile @Nullable String wrong;
    private volatile boolean connected;
    private volatile boolean ended;

    // Used by callbacks.
    private By by = By.CALLBACK;
    private int got;
    private boolean inputEnded;

    EchoingAtRandom(Random random, int size, ExecutorService helper, Path directory, boolean breaks) {
        this.random = random;
        this.size = size;
        this.helper = helper;
        this.directory = directory;
        this.breaks = breaks;
    }

    private <E extends Exception> void callback(String what, Callback<E> body) throws E {
        if (!inside.compareAndSet(false, true)) {
            fail(what + " beside another callback");
        }
        if (ended) {
            fail(what + " after the end");
        }
        try {
            body.run();
        } finally {
            inside.set(false);
        }
    }

    private interface Callback<E extends Exception> {
        void run() throws E;
    }

    private void fail(String what) {
        if (wrong == null) {
            wrong = what;
        }
    }

    @Override
    public void onConnect(Connection connection) throws Exception {
        callback("onConnect", () -> {
            if (connected) {
                fail("connected twice");
            }
            connected = true;
            switchFraming(connection);
        });
    }

    @Override
    public void onData(Connection connection, ByteBuffer data) throws Exception {
        callback("onData", () -> {
            if (inputEnded) {
                fail("data after the end of input");
            }
            got += data.remaining();
            if (breaks && random.nextInt(200) == 0) {
                breakOff(connection);
                return;
            }
            echo(connection, data);
            switchFraming(connection);
            if (random.nextInt(20) == 0) {
                connection.pauseReads();
                later(connection::resumeReads);
            }
        });
    }

    private void breakOff(Connection connection) {
        switch (random.nextInt(3)) {
            case 0 -> connection.close();
            case 1 -> connection.abort();
            default -> connection.reset();
        }
    }

    private void later(Runnable what) {
        helper.execute(what);
    }

    /** Never more than what is still to come, because a frame that is not complete at the end of input is an error. */
    private void switchFraming(Connection connection) {
        int left = size - got;
        if (left == 0 || random.nextBoolean()) {
            connection.setFraming(Framing.none());
        } else {
            connection.setFraming(Framing.exactly(1 + random.nextInt(Math.min(left, 3_000))));
        }
    }

    private void echo(Connection connection, ByteBuffer data) throws IOException {
        if (underWay.get() == 0) {
            by = By.values()[random.nextInt(8) == 0 ? 1 + random.nextInt(2) : 0];
        }
        switch (by) {
            case CALLBACK -> sendHere(connection, data);
            case TASK -> task(connection, copy(data));
            case THREAD -> {
                ByteBuffer copy = copy(data);
                underWay.incrementAndGet();
                later(() -> {
                    send(connection, copy);
                    underWay.decrementAndGet();
                });
            }
        }
    }

    private void task(Connection connection, ByteBuffer copy) {
        underWay.incrementAndGet();
        promised.incrementAndGet();
        try {
            connection.execute(() -> {
                try {
                    callback("a task", () -> send(connection, copy));
                } finally {
                    kept.incrementAndGet();
                    underWay.decrementAndGet();
                }
            });
        } catch (RejectedExecutionException e) {
            promised.decrementAndGet();
            underWay.decrementAndGet();
            if (!breaks) {
                fail("a task is refused: " + e);
            }
        }
    }

    private void sendHere(Connection connection, ByteBuffer data) throws IOException {
        if (data.remaining() > 100 && random.nextInt(30) == 0) {
            byte[] bytes = new byte[data.remaining()];
            data.get(bytes);
            Path file = Files.write(Files.createTempFile(directory, "piece", ""), bytes);
            connection.sendFile(file);
            Files.delete(file);
            return;
        }
        while (data.hasRemaining() && random.nextInt(3) == 0) {
            int piece = 1 + random.nextInt(data.remaining());
            send(connection, data.slice(data.position(), piece));
            data.position(data.position() + piece);
        }
        send(connection, data);
    }

    private void send(Connection connection, ByteBuffer data) {
        if (random.nextInt(4) == 0) {
            promised.incrementAndGet();
            if (connection.send(data, (there, failure) -> kept.incrementAndGet()) == SendResult.CLOSED) {
                promised.decrementAndGet();
            }
        } else {
            connection.send(data);
        }
    }

    private static ByteBuffer copy(ByteBuffer data) {
        return ByteBuffer.allocate(data.remaining()).put(data).flip();
    }

    @Override
    public void onEndOfInput(Connection connection) throws Exception {
        callback("onEndOfInput", () -> {
            if (inputEnded) {
                fail("two ends of input");
            }
            inputEnded = true;
            if (got != size && !breaks) {
                fail("the end of input after " + got + " of " + size);
            }
            Runnable end = random.nextBoolean() ? connection::close : connection::closeOutput;
            if (underWay.get() == 0) {
                end.run();
            } else if (by == By.TASK) {
                connection.execute(end::run);
            } else {
                later(end);
            }
        });
    }

    @Override
    public void onWritable(Connection connection) throws Exception {
        callback("onWritable", () -> {});
    }

    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        if (!breaks) {
            fail("onError: " + failure);
        }
    }

    @Override
    public void onDisconnect(Connection connection) throws Exception {
        callback("onDisconnect", () -> {
            if (promised.get() != kept.get() && underWay.get() == 0) {
                fail(kept + " of " + promised + " promises were kept before the end");
            }
        });
        ended = true;
    }

    /** Waits for the end, and looks whether everything was right. */
    void awaitEnd() {
        Await.until("the end of " + this, () -> ended && underWay.get() == 0);
        Await.until("promises of " + this, () -> promised.get() == kept.get());
        if (wrong != null) {
            throw new AssertionError(wrong + ": " + this);
        }
    }

    @Override
    public String toString() {
        return "echo of " + got + " of " + size + (connected ? "" : ", not connected")
                + (inputEnded ? ", input ended" : "")
                + (ended ? ", ended" : "") + ", " + kept + " of " + promised + " promises kept, " + underWay
                + " under way " + by + (wrong == null ? "" : ", wrong: " + wrong);
    }
}
