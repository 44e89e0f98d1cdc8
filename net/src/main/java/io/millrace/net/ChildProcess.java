package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.ChildCommand;
import io.millrace.net.family.Failures;
import io.millrace.net.family.ProcessCalls;
import io.millrace.net.family.SourceFactory;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.sys.posix.Processes;
import io.millrace.sys.posix.Signals;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A program that this one started. Readable, for ever, once it has ended; its standard streams are sources of their own.
 *
 * {@snippet :
 * ChildProcess child = ChildProcess.builder("sort", "-u").stderr(Stdio.INHERIT).start();
 * poll.register(child, 1, Interest.READABLE, Trigger.ONESHOT);
 * poll.register(child.stdout(), 2, Interest.READABLE, Trigger.EDGE);
 * // when token 1 is readable:
 * ChildProcess.Exit exit = child.poll();
 * }
 *
 * <p><b>The end.</b> {@link #poll} takes the status, so that no zombie stays. The end of the child and the end of its output are two events,
 * in either order: what it wrote can still be read after it has ended, and a grandchild may hold the pipe open for longer.
 *
 * <p><b>What the child gets.</b> Its three standard streams and no other descriptor; no signal blocked, and the default action for each; the
 * variables and the directory of this process, or those that the builder was given.
 *
 * <p><b>Close does not kill.</b> It closes our ends of the pipes and lets go of the child. One that has not ended goes on, or ends by what it
 * meets at its closed pipes; nobody learns its status, and after its end it is a zombie until this process starts or closes another
 * child. {@link #kill} first, if it should end, and {@link #poll} until it has.
 *
 * <p><b>Threads.</b> Any thread may call any method. Starting waits until the child runs its program, some milliseconds; nothing else waits.
 *
 * <h2>Portability</h2>
 * Linux since 5.4 (pidfd), without a thread. From {@link Net#nio()} it is a {@link Process} of the JDK, whose reaper thread tells of its end: the streams
 * refuse to be registered and read or written, a child that a signal ended has the code 128 plus its number, and only TERM and KILL can be sent. On other
 * Unixes only that one is there.
 */
public final class ChildProcess implements Source, AutoCloseable {
    /** Where a standard stream of a child goes to or comes from. */
    public enum Stdio {
        /** A pipe, whose other end is {@link #stdin}, {@link #stdout} or {@link #stderr}. */
        PIPE(ChildCommand.Stream.PIPE),
        /** Where this process's own goes to or comes from. */
        INHERIT(ChildCommand.Stream.INHERIT),
        /** Nowhere: what is written is thrown away, and a read is at the end at once. */
        DISCARD(ChildCommand.Stream.DISCARD);

        /** As a family knows it. */
        final ChildCommand.Stream stream;

        Stdio(ChildCommand.Stream stream) {
            this.stream = stream;
        }
    }

    /**
     * How a child ended.
     *
     * @param code what it returned, 0 to 255; −1 if a signal ended it
     * @param signal the number of that signal, else 0
     */
    public record Exit(int code, int signal) {
        /**
         * Whether it returned 0.
         *
         * @return true if so
         */
        public boolean isSuccess() {
            return code == 0;
        }

        @Override
        public String toString() {
            return signal == 0 ? "exit code " + code : "ended by " + Signals.describe(signal);
        }
    }

    private final ProcessCalls calls;
    private final LeakTracker leak;
    private final List<String> command;
    private final Pipe.@Nullable Writer stdin;
    private final Pipe.@Nullable Reader stdout;
    private final Pipe.@Nullable Reader stderr;

    private ChildProcess(ProcessCalls calls, List<String> command) {
        this.calls = calls;
        this.command = command;
        ByteCalls in = calls.stream(0);
        ByteCalls out = calls.stream(1);
        ByteCalls err = calls.stream(2);
        this.stdin = in == null ? null : new Pipe.Writer(in);
        this.stdout = out == null ? null : new Pipe.Reader(out);
        this.stderr = err == null ? null : new Pipe.Reader(err);
        this.leak = LeakTracker.track(this, "ChildProcess", command, calls::close);
    }

    /**
     * Begins to describe a child of the default family: {@link Net#process} of {@link Net#standard()}.
     *
     * @param command the program, a path or a name that is looked for in PATH, and its arguments; no shell looks at them
     * @return a builder with pipes for all three streams
     * @throws IllegalArgumentException if there is no program
     */
    public static Builder builder(String... command) {
        return Net.standard().process(command);
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * The system's number of the child. It is the child's until {@link #poll} has returned its end, and may be another's afterwards.
     *
     * @return the number
     */
    public long pid() {
        return calls.pid();
    }

    /**
     * Where the child reads from. Close it to let the child come to the end of its input.
     *
     * @return our end of the pipe, the same every time
     * @throws IllegalStateException if the child has no pipe there
     */
    public Pipe.Writer stdin() {
        return require(stdin, "standard input");
    }

    /**
     * Where the child writes to.
     *
     * @return our end of the pipe, the same every time
     * @throws IllegalStateException if the child has no pipe there
     */
    public Pipe.Reader stdout() {
        return require(stdout, "standard output");
    }

    /**
     * Where the child complains.
     *
     * @return our end of the pipe, the same every time
     * @throws IllegalStateException if the child has no pipe there
     */
    public Pipe.Reader stderr() {
        return require(stderr, "standard error");
    }

    private <T> T require(@Nullable T stream, String name) {
        if (stream == null) {
            throw new IllegalStateException(
                    "the " + name + " of " + this + " is no pipe: it was started with it inherited or discarded");
        }
        return stream;
    }

    /**
     * Asks whether the child has ended, without waiting for it.
     *
     * @return how it ended, the same every time from then on; or null if it runs
     * @throws java.nio.channels.ClosedChannelException if this was closed before anybody learnt of the child's end
     * @throws IOException if somebody else took the status
     */
    public @Nullable Exit poll() throws IOException {
        try {
            Processes.Ended ended = calls.poll();
            return ended == null ? null : new Exit(ended.code(), ended.signal());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends a signal to the child. It cannot reach another process, even if the child has ended and its number was given away.
     *
     * @param signal such as {@code TERM}, {@code KILL} or {@code INT}
     * @return false if its end is known already
     * @throws java.nio.channels.ClosedChannelException if this is closed
     * @throws IOException if the system refuses, e.g. because the child runs as another user
     * @throws IllegalArgumentException if there is no such signal
     * @throws UnsupportedOperationException if such a signal cannot be sent to a child of this family
     */
    public boolean kill(String signal) throws IOException {
        try {
            return calls.kill(signal);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes our ends of the pipes, deregisters, and lets go of the child, which is not killed. Idempotent, from any thread. */
    @Override
    public void close() {
        leak.closed();
        if (stdin != null) {
            stdin.close();
        }
        if (stdout != null) {
            stdout.close();
        }
        if (stderr != null) {
            stderr.close();
        }
        calls.close();
    }

    @Override
    public String toString() {
        return "ChildProcess " + pid() + " of " + command + ", " + calls;
    }

    /** A child that has yet to be started; it may be started several times. Used by one thread at a time. */
    public static final class Builder {
        private final SourceFactory factory;
        private final List<String> command;
        private final Stdio[] stdio = {Stdio.PIPE, Stdio.PIPE, Stdio.PIPE};
        private final Map<String, @Nullable String> variables = new LinkedHashMap<>();
        private boolean onlyTheseVariables;
        private @Nullable Path directory;

        Builder(SourceFactory factory, String... command) {
            if (command.length == 0) {
                throw new IllegalArgumentException("a command begins with a program; there is none");
            }
            this.factory = factory;
            this.command = List.copyOf(Arrays.asList(command));
        }

        /**
         * Where the child reads from; a pipe if not set.
         *
         * @param from one of the three
         * @return this
         */
        public Builder stdin(Stdio from) {
            stdio[0] = Objects.requireNonNull(from, "from");
            return this;
        }

        /**
         * Where the child writes to; a pipe if not set.
         *
         * @param to one of the three
         * @return this
         */
        public Builder stdout(Stdio to) {
            stdio[1] = Objects.requireNonNull(to, "to");
            return this;
        }

        /**
         * Where the child complains; a pipe if not set.
         *
         * @param to one of the three
         * @return this
         */
        public Builder stderr(Stdio to) {
            stdio[2] = Objects.requireNonNull(to, "to");
            return this;
        }

        /**
         * Sets a variable of the child's environment, or removes one that it would inherit.
         *
         * @param name neither empty nor with a {@code =}
         * @param value the value, or null to remove it
         * @return this
         * @throws IllegalArgumentException if there can be no such name
         */
        public Builder environment(String name, @Nullable String value) {
            if (name.isEmpty() || name.indexOf('=') >= 0) {
                throw new IllegalArgumentException("a variable's name is not empty and has no '=': \"" + name + "\"");
            }
            variables.put(name, value);
            return this;
        }

        /**
         * Lets the child inherit no variables: it gets only those that are set here, before or after this call.
         *
         * @return this
         */
        public Builder emptyEnvironment() {
            onlyTheseVariables = true;
            return this;
        }

        /**
         * Where the child begins; where this process is, if not set. A relative path of the program is looked for from there.
         *
         * @param directory a directory
         * @return this
         */
        public Builder directory(Path directory) {
            this.directory = Objects.requireNonNull(directory, "directory");
            return this;
        }

        /**
         * Starts the child. Returns when it runs its program.
         *
         * @return the child, the caller's to close
         * @throws IOException if the program cannot be run, e.g. because there is no such file, or too many files are open
         * @throws IllegalArgumentException if an argument or variable contains a zero character
         * @throws UnsupportedOperationException if this system cannot tell of a child's end; the message says why, and what can be done
         */
        public ChildProcess start() throws IOException {
            Path begins = directory;
            if (begins != null && !Files.isDirectory(begins)) {
                throw new IOException("cannot start " + command + " in " + begins + ": there is no such directory");
            }
            command.forEach(argument -> requireNoZero("an argument", argument));
            variables.forEach((name, value) -> {
                requireNoZero("a variable's name", name);
                requireNoZero("the variable " + name, value);
            });
            try {
                return new ChildProcess(factory.start(described()), command);
            } catch (IOException e) {
                throw Failures.start(command, e);
            }
        }

        private static void requireNoZero(String what, @Nullable String text) {
            if (text != null && text.indexOf('\0') >= 0) {
                throw new IllegalArgumentException(
                        what + " has no zero character, which would end it: \"" + text.replace("\0", "\\0") + "\"");
            }
        }

        private ChildCommand described() {
            return new ChildCommand(
                    command,
                    Arrays.stream(stdio).map(each -> each.stream).toList(),
                    Collections.unmodifiableMap(variables),
                    onlyTheseVariables,
                    directory);
        }

        @Override
        public String toString() {
            return "ChildProcess.Builder of " + command;
        }
    }
}
