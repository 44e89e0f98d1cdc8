package io.millrace.net;

import io.millrace.net.ChildProcess.Exit;
import io.millrace.poll.Handle;
import io.millrace.poll.internal.OsHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Errno;
import io.millrace.sys.ErrnoException;
import io.millrace.sys.Processes;
import io.millrace.sys.Signals;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * A child whose end a pidfd tells. Its status is taken once, under this object's monitor: by the first {@link #poll} after its end, or, if
 * it is closed before, by {@link Processes#abandon}.
 */
final class FdProcess implements ProcessTransport {
    private final int pid;
    private final Descriptor pidfd;
    private final OsHandle handle;
    private final @Nullable ByteTransport[] streams;
    private @Nullable Exit exit;
    private boolean closed;

    private FdProcess(Processes.Started started, @Nullable ByteTransport[] streams) {
        this.pid = started.pid();
        this.pidfd = started.pidfd();
        this.handle = new OsHandle(pidfd);
        this.streams = streams;
    }

    static FdProcess start(ChildProcess.Builder builder) throws IOException {
        String refusal = Processes.refusal();
        if (refusal != null) {
            throw new UnsupportedOperationException("cannot start " + builder.command() + ": " + refusal
                    + "; start it with Net.nio() and wait with a poll on the backend nio");
        }
        int[] numbers = new int[3];
        Processes.@Nullable ChildPipe[] pipes = new Processes.ChildPipe[3];
        boolean done = false;
        try {
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = switch (builder.stdio(i)) {
                    case INHERIT -> Processes.INHERIT;
                    case DISCARD -> Processes.DISCARD;
                    case PIPE -> {
                        Processes.ChildPipe pipe = Processes.pipe(i == 0);
                        pipes[i] = pipe;
                        yield pipe.theirs().fd();
                    }
                };
            }
            Processes.Started started = Processes.spawn(
                    builder.command(),
                    builder.changedVariables(),
                    builder.hasOnlyChangedVariables(),
                    builder.directory(),
                    numbers);
            @Nullable ByteTransport[] streams = new ByteTransport[3];
            for (int i = 0; i < streams.length; i++) {
                Processes.ChildPipe pipe = pipes[i];
                if (pipe != null) {
                    streams[i] = new FdBytes(pipe.ours(), FdBytes.Kind.PIPE);
                }
            }
            done = true;
            return new FdProcess(started, streams);
        } finally {
            for (Processes.ChildPipe pipe : pipes) {
                if (pipe != null) {
                    pipe.theirs().close(); // else we would never see the end of what the child writes
                    if (!done) {
                        pipe.ours().close();
                    }
                }
            }
        }
    }

    @Override
    public Handle handle() {
        return handle;
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public @Nullable ByteTransport stream(int number) {
        return streams[number];
    }

    @Override
    public synchronized @Nullable Exit poll() throws IOException {
        if (exit != null) {
            return exit;
        }
        if (!pidfd.acquire()) {
            throw new ClosedChannelException();
        }
        try {
            take();
            if (exit == null) {
                handle.drained(Bits.READABLE);
            }
            return exit;
        } catch (ErrnoException e) {
            if (e.is(Errno.ECHILD)) {
                throw new IOException(
                        "the status of child " + pid + " is gone: this process ignores SIGCHLD, or another part of it"
                                + " waits for every child",
                        e);
            }
            throw e;
        } finally {
            pidfd.release();
        }
    }

    private void take() throws ErrnoException {
        Processes.Ended ended = Processes.take(pidfd.fd());
        if (ended != null) {
            exit = new Exit(ended.code(), ended.signal());
        }
    }

    @Override
    public synchronized boolean kill(String signal) throws IOException {
        int number = Signals.number(Signals.plainName(signal));
        if (exit != null) {
            return false;
        }
        if (!pidfd.acquire()) {
            throw new ClosedChannelException();
        }
        try {
            return Processes.signal(pidfd.fd(), number);
        } finally {
            pidfd.release();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (!closed) {
                closed = true;
                if (exit == null) {
                    Processes.abandon(pid);
                }
            }
        }
        handle.close(); // not under the monitor: it may wait for the poll's control lock
    }

    @Override
    public String toString() {
        return "pidfd, " + pidfd;
    }
}
