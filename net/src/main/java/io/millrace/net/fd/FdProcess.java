package io.millrace.net.fd;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.ChildCommand;
import io.millrace.net.family.ProcessCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Processes;
import io.millrace.sys.posix.Signals;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A child process whose end is reported by a pidfd. Its status is taken once, under this object's monitor: by the first
 * {@link #poll} after its end or, if it is closed before, by {@link Processes#abandon}.
 */
final class FdProcess implements ProcessCalls {
    private final int pid;
    private final Descriptor pidfd;
    private final KernelHandle handle;
    private final @Nullable ByteCalls[] streams;
    private Processes.@Nullable Ended ended;
    private boolean closed;

    private FdProcess(Processes.Started started, @Nullable ByteCalls[] streams) {
        this.pid = started.pid();
        this.pidfd = started.pidfd();
        this.handle = new KernelHandle(pidfd);
        this.streams = streams;
    }

    static FdProcess start(ChildCommand child) throws IOException {
        String refusal = Processes.refusal();
        if (refusal != null) {
            throw new UnsupportedOperationException("cannot start " + child.command() + ": " + refusal
                    + "; start it with Net.nio() and wait with a poll on the backend nio");
        }
        int[] numbers = new int[3];
        Processes.@Nullable ChildPipe[] pipes = new Processes.ChildPipe[3];
        boolean done = false;
        try {
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = switch (child.streams().get(i)) {
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
                    child.command(), child.variables(), child.onlyTheseVariables(), child.directory(), numbers);
            @Nullable ByteCalls[] streams = new ByteCalls[3];
            for (int i = 0; i < streams.length; i++) {
                Processes.ChildPipe pipe = pipes[i];
                if (pipe != null) {
                    streams[i] = new FdPipe(pipe.ours(), false);
                }
            }
            done = true;
            return new FdProcess(started, streams);
        } finally {
            for (Processes.ChildPipe pipe : pipes) {
                if (pipe != null) {
                    pipe.theirs().close(); // otherwise we would never see the end of the child's output
                    if (!done) {
                        pipe.ours().close();
                    }
                }
            }
        }
    }

    @Override
    public SourceHandle handle() {
        return handle;
    }

    @Override
    public long pid() {
        return pid;
    }

    @Override
    public @Nullable ByteCalls stream(int number) {
        return streams[number];
    }

    @Override
    public synchronized Processes.@Nullable Ended poll() throws IOException {
        if (ended != null) {
            return ended;
        }
        int fd = FdUse.begin(pidfd);
        try {
            ended = Processes.take(fd);
            if (ended == null) {
                handle.markDrained(Bits.READABLE);
            }
            return ended;
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

    @Override
    public synchronized boolean kill(String signal) throws IOException {
        int number = Signals.number(Signals.plainName(signal));
        if (ended != null) {
            return false;
        }
        int fd = FdUse.begin(pidfd);
        try {
            return Processes.signal(fd, number);
        } finally {
            pidfd.release();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (!closed) {
                closed = true;
                if (ended == null) {
                    Processes.abandon(pid);
                }
            }
        }
        handle.close(); // not under the monitor: it may have to wait for the poll's control lock
    }

    @Override
    public String toString() {
        return "pidfd, " + pidfd;
    }
}
