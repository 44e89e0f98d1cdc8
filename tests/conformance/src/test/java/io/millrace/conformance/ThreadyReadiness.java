package io.millrace.conformance;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.NotifyOutcome;
import io.millrace.engine.Priority;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.net.FdSource;
import io.millrace.poll.Event;
import io.millrace.poll.Source;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A readiness descriptor of {@link ThreadyManager}: what is ready and who has asked, in three directions, guarded by itself. */
final class ThreadyReadiness extends IoThread.Served implements ReadinessDescriptor {
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final int ERROR = 2;

    private record Question(Consumer<NotifyOutcome> callback, boolean ends, long deadline) {}

    private final ThreadyManager manager;
    private final IoThread io;
    private final Source source;
    private final int fd;

    private final @Nullable Question[] asked = new Question[3];
    private final @Nullable AlarmKey[] alarms = new AlarmKey[3];
    private final boolean[] ready = new boolean[3];
    private boolean isClosed;
    private boolean isReleased;
    private boolean isFinished;

    ThreadyReadiness(ThreadyManager manager, IoThread io, Source source, int fd) {
        super(io);
        this.manager = manager;
        this.io = io;
        this.source = source;
        this.fd = fd;
    }

    // ---- The I/O thread ----

    @Override
    synchronized void ready(Event event) {
        ready[READ] |= event.isReadable();
        ready[WRITE] |= event.isWritable();
        ready[ERROR] |= event.readiness().isError();
    }

    @Override
    void serve() {
        for (int direction = READ; direction <= ERROR; direction++) {
            answer(direction);
        }
        synchronized (this) {
            if (!isClosed || isReleased || isFinished) {
                return;
            }
            isFinished = true;
        }
        finish();
    }

    private void answer(int direction) {
        Question question;
        AlarmKey alarm;
        NotifyOutcome outcome;
        synchronized (this) {
            question = asked[direction];
            if (question == null) {
                return;
            }
            if (isClosed) {
                outcome = NotifyOutcome.CLOSED;
            } else if (ready[direction]) {
                outcome = NotifyOutcome.BECAME_READY;
                ready[direction] = false;
            } else if (question.ends && question.deadline - manager.clock().nanoTime() <= 0) {
                outcome = NotifyOutcome.TIMED_OUT;
            } else {
                return;
            }
            asked[direction] = null;
            alarm = alarms[direction];
            alarms[direction] = null;
        }
        if (alarm != null) {
            manager.cancel(alarm);
        }
        manager.serve(() -> question.callback.accept(outcome));
    }

    private void finish() {
        io.deregister(this, source);
        try {
            if (source instanceof AutoCloseable closeable) {
                closeable.close();
            }
            if (fd >= 0) {
                manager.forgetNumber(fd);
                FdSource.owned(fd).close(); // the source had a number of its own
            }
        } catch (Exception e) {
            throw new IllegalStateException("cannot close " + source, e);
        }
    }

    // ---- Any thread ----

    private void ask(int direction, Consumer<NotifyOutcome> callback, boolean ends, long deadline) {
        synchronized (this) {
            if (isClosed) {
                throw new IllegalStateException("it is closed: " + this);
            }
            if (asked[direction] != null) {
                throw new IllegalStateException("it is asked already: " + this);
            }
            if (ends) {
                alarms[direction] = manager.schedule(deadline, fired -> pokeIf(fired), Priority.NORMAL);
            }
            asked[direction] = new Question(callback, ends, deadline);
        }
        poke();
    }

    private void pokeIf(boolean fired) {
        if (fired) {
            poke();
        }
    }

    private void ask(int direction, Runnable callback) {
        ask(direction, outcome -> callback.run(), false, 0);
    }

    private void set(int direction, boolean value) {
        synchronized (this) {
            ready[direction] = value;
        }
        poke();
    }

    @Override
    public void notifyWhenReadable(Runnable callback) {
        ask(READ, callback);
    }

    @Override
    public void notifyWhenWritable(Runnable callback) {
        ask(WRITE, callback);
    }

    @Override
    public void notifyWhenHasError(Runnable callback) {
        ask(ERROR, callback);
    }

    @Override
    public void notifyWhenReadableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos) {
        ask(READ, callback, true, deadlineNanos);
    }

    @Override
    public void notifyWhenWritableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos) {
        ask(WRITE, callback, true, deadlineNanos);
    }

    @Override
    public void clearReadable() {
        set(READ, false);
    }

    @Override
    public void clearWritable() {
        set(WRITE, false);
    }

    @Override
    public void clearHasError() {
        set(ERROR, false);
    }

    @Override
    public void forceReadable() {
        set(READ, true);
    }

    @Override
    public void forceWritable() {
        set(WRITE, true);
    }

    @Override
    public void forceHasError() {
        set(ERROR, true);
    }

    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
        }
        poke();
    }

    @Override
    void letGo() {
        release();
    }

    @Override
    public int release() {
        synchronized (this) {
            if (isClosed) {
                return -1;
            }
            isClosed = true;
            isReleased = true;
        }
        io.deregister(this, source);
        if (fd >= 0) {
            manager.forgetNumber(fd);
            ((FdSource) source).close();
        }
        poke();
        return fd;
    }

    @Override
    public synchronized int fd() {
        return isClosed ? -1 : fd;
    }

    @Override
    public Source source() {
        return source;
    }

    @Override
    public ReadinessEventManager manager() {
        return manager;
    }

    @Override
    public synchronized boolean isClosed() {
        return isClosed;
    }

    // Nothing waits behind anything else, so there is nothing to be put before it.

    @Override
    public void setReadPriority(Priority priority) {}

    @Override
    public void setWritePriority(Priority priority) {}

    @Override
    public void setErrorPriority(Priority priority) {}

    @Override
    public synchronized String toString() {
        return "readiness of " + (fd >= 0 ? "fd " + fd : source) + (isClosed ? ", closed" : "");
    }
}
