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
 * A child process. It is readable for ever once it has ended; its standard streams are separate sources.
 *
 * {@snippet :
 * ChildProcess child = ChildProcess.builder("sort", "-u").stderr(Stdio.INHERIT).start();
 * poll.register(child, 1, Interest.READABLE, Trigger.ONESHOT);
 * poll.register(child.stdout(), 2, Interest.READABLE, Trigger.EDGE);
 * // when token 1 is readable:
 * ChildProcess.Exit exit = child.poll();
 * }
 *
 * <p><b>The end.</b> {@link #poll} takes the child's status, so that no zombie stays. The end of the child and the end
 * of its output are two events, in either order: its output can still be read after it has ended, and a grandchild may
 * keep the pipe open for longer.
 *
 * <p><b>What the child inherits.</b> Its three standard streams and no other descriptor; no blocked signals, and the
 * default action for each; the environment variables and the directory of this process, or those given to the builder.
 *
 * <p><b>Close does not kill.</b> It closes our ends of the pipes and releases the child. A child that has not ended
 * keeps running, or ends because its pipes are closed; its status is lost, and after its end it is a zombie until this
 * process starts or closes another child. If it should end, call {@link #kill} first, and {@link #poll} until it has.
 *
 * <p><b>Threads.</b> Any thread may call any method. Starting takes some milliseconds, until the child runs its
 * program; no other call waits.
 *
 * <h2>Portability</h2>
 * Linux since 5.4 (pidfd), without a thread. From {@link Net#nio()}, it is a {@link Process} of the JDK, whose reaper
 * thread reports its end: the streams cannot be registered, read or written, a child that was ended by a signal has the
 * code 128 plus its number, and only TERM and KILL can be sent. On other Unixes, only this kind is available.
 */
public final class ChildProcess implements Source, AutoCloseable {
    /** What a standard stream of a child is connected to. */
    public enum Stdio {
        /** A pipe, whose other end is {@link #stdin}, {@link #stdout} or {@link #stderr}. */
        PIPE(ChildCommand.Stream.PIPE),
        /** The corresponding stream of this process. */
        INHERIT(ChildCommand.Stream.INHERIT),
        /** Nothing: output is discarded, and input is at its end. */
        DISCARD(ChildCommand.Stream.DISCARD);

        /** The corresponding value in {@code net.family}. */
        final ChildCommand.Stream stream;

        Stdio(ChildCommand.Stream stream) {
            this.stream = stream;
        }
    }

    /**
     * How a child ended.
     *
     * @param code its exit code, 0 to 255; −1 if a signal ended it
     * @param signal the number of that signal, or 0
     */
    public record Exit(int code, int signal) {
        /**
         * Returns whether the exit code is 0.
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
     * Returns a builder for a child of the default family: {@link Net#process} of {@link Net#standard()}.
     *
     * @param command the program (a path, or a name that is searched for in PATH) and its arguments; no shell
     *     interprets them
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
     * Returns the system's number of the child. It belongs to the child until {@link #poll} has returned its end;
     * afterwards it may belong to another process.
     *
     * @return the number
     */
    public long pid() {
        return calls.pid();
    }

    /**
     * Returns the pipe to the child's standard input. Close it to let the child reach the end of its input.
     *
     * @return our end of the pipe, always the same one
     * @throws IllegalStateException if the child has no pipe there
     */
    public Pipe.Writer stdin() {
        return require(stdin, "standard input");
    }

    /**
     * Returns the pipe from the child's standard output.
     *
     * @return our end of the pipe, always the same one
     * @throws IllegalStateException if the child has no pipe there
     */
    public Pipe.Reader stdout() {
        return require(stdout, "standard output");
    }

    /**
     * Returns the pipe from the child's standard error.
     *
     * @return our end of the pipe, always the same one
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
     * Returns how the child ended, without waiting for it.
     *
     * @return how it ended, always the same from then on; or null if it is running
     * @throws java.nio.channels.ClosedChannelException if this was closed before the child's end was known
     * @throws IOException if other code in this process has taken the status
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
     * Sends a signal to the child. It cannot reach another process, even if the child has ended and its number was
     * reused.
     *
     * @param signal for example {@code TERM}, {@code KILL} or {@code INT}
     * @return false if its end is already known
     * @throws java.nio.channels.ClosedChannelException if this is closed
     * @throws IOException if the system refuses, for example because the child runs as another user
     * @throws IllegalArgumentException if there is no such signal
     * @throws UnsupportedOperationException if this signal cannot be sent to a child of this family
     */
    public boolean kill(String signal) throws IOException {
        try {
            return calls.kill(signal);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Closes our ends of the pipes, deregisters, and releases the child without killing it. Idempotent; any thread may
     * call it.
     */
    @Override
    public void close() {
        leak.forget();
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

    /** Collects the settings of a child, which may be started several times. Used by one thread at a time. */
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
         * Sets what the child's standard input is connected to.
         *
         * @param from a pipe by default
         * @return this
         */
        public Builder stdin(Stdio from) {
            stdio[0] = Objects.requireNonNull(from, "from");
            return this;
        }

        /**
         * Sets what the child's standard output is connected to.
         *
         * @param to a pipe by default
         * @return this
         */
        public Builder stdout(Stdio to) {
            stdio[1] = Objects.requireNonNull(to, "to");
            return this;
        }

        /**
         * Sets what the child's standard error is connected to.
         *
         * @param to a pipe by default
         * @return this
         */
        public Builder stderr(Stdio to) {
            stdio[2] = Objects.requireNonNull(to, "to");
            return this;
        }

        /**
         * Sets a variable of the child's environment, or removes one that it would inherit.
         *
         * @param name not empty, and without {@code =}
         * @param value the value, or null to remove the variable
         * @return this
         * @throws IllegalArgumentException if the name is invalid
         */
        public Builder environment(String name, @Nullable String value) {
            if (name.isEmpty() || name.indexOf('=') >= 0) {
                throw new IllegalArgumentException("a variable's name is not empty and has no '=': \"" + name + "\"");
            }
            variables.put(name, value);
            return this;
        }

        /**
         * Makes the child inherit no variables: it gets only those that are set here, before or after this call.
         *
         * @return this
         */
        public Builder emptyEnvironment() {
            onlyTheseVariables = true;
            return this;
        }

        /**
         * Sets the directory in which the child starts. A relative path of the program is resolved against it.
         *
         * @param directory the directory of this process by default
         * @return this
         */
        public Builder directory(Path directory) {
            this.directory = Objects.requireNonNull(directory, "directory");
            return this;
        }

        /**
         * Starts the child. Returns when it runs its program.
         *
         * @return the child, which the caller must close
         * @throws IOException if the program cannot be run, for example because there is no such file, or too many
         *     files are open
         * @throws IllegalArgumentException if an argument or variable contains a zero character
         * @throws UnsupportedOperationException if this system cannot report a child's end; the message says why, and
         *     what can be done
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
