package io.millrace.net;

import io.millrace.net.ChildProcess.Exit;
import io.millrace.net.ChildProcess.Stdio;
import io.millrace.poll.Handle;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.sys.Signals;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A child of the JDK, whose reaper thread tells of its end. */
final class NioProcess implements ProcessTransport {
    private static final String[] NAMES = {"standard input", "standard output", "standard error"};

    private final Process process;
    private final Registration registration = new Registration();
    private final @Nullable ByteTransport[] streams = new ByteTransport[3];

    private NioProcess(Process process, ChildProcess.Builder builder) {
        this.process = process;
        Closeable[] theirs = {process.getOutputStream(), process.getInputStream(), process.getErrorStream()};
        for (int i = 0; i < streams.length; i++) {
            if (builder.stdio(i) == Stdio.PIPE) {
                streams[i] = new RefusedBytes(NAMES[i] + " of child " + process.pid(), theirs[i]);
            }
        }
    }

    static NioProcess start(ChildProcess.Builder builder) throws IOException {
        ProcessBuilder jdk = new ProcessBuilder(builder.command());
        if (builder.hasOnlyChangedVariables()) {
            jdk.environment().clear();
        }
        builder.changedVariables().forEach((name, value) -> {
            if (value == null) {
                jdk.environment().remove(name);
            } else {
                jdk.environment().put(name, value);
            }
        });
        Path directory = builder.directory();
        if (directory != null) {
            jdk.directory(directory.toFile());
        }
        File nothing = new File(File.separatorChar == '\\' ? "NUL" : "/dev/null");
        jdk.redirectInput(
                switch (builder.stdio(0)) {
                    case PIPE -> ProcessBuilder.Redirect.PIPE;
                    case INHERIT -> ProcessBuilder.Redirect.INHERIT;
                    case DISCARD -> ProcessBuilder.Redirect.from(nothing);
                });
        jdk.redirectOutput(output(builder.stdio(1)));
        jdk.redirectError(output(builder.stdio(2)));
        NioProcess started = new NioProcess(jdk.start(), builder);
        started.listen();
        return started;
    }

    private static ProcessBuilder.Redirect output(Stdio stdio) {
        return switch (stdio) {
            case PIPE -> ProcessBuilder.Redirect.PIPE;
            case INHERIT -> ProcessBuilder.Redirect.INHERIT;
            case DISCARD -> ProcessBuilder.Redirect.DISCARD;
        };
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it cannot fail, and nobody waits for it
    private void listen() {
        process.onExit().thenRun(() -> registration.setReadiness(Readiness.READABLE));
    }

    @Override
    public Handle handle() {
        return registration;
    }

    @Override
    public long pid() {
        return process.pid();
    }

    @Override
    public @Nullable ByteTransport stream(int number) {
        return streams[number];
    }

    @Override
    public @Nullable Exit poll() {
        return process.isAlive() ? null : new Exit(process.exitValue(), 0);
    }

    @Override
    public boolean kill(String signal) {
        boolean alive = process.isAlive();
        switch (Signals.plainName(signal)) {
            case "TERM" -> process.destroy();
            case "KILL" -> process.destroyForcibly();
            default ->
                throw new UnsupportedOperationException("cannot send " + signal + " to child " + process.pid()
                        + ": the JDK, which started it for the backend nio, sends only TERM and KILL; start it with"
                        + " Net.natively()");
        }
        return alive;
    }

    @Override
    public void close() {
        registration.close();
    }

    @Override
    public String toString() {
        return "the JDK's";
    }
}
