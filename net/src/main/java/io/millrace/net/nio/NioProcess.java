package io.millrace.net.nio;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.ChildCommand;
import io.millrace.net.family.ProcessCalls;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.SourceHandle;
import io.millrace.sys.posix.Processes;
import io.millrace.sys.posix.Signals;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A child process of the JDK, whose reaper thread reports its end. */
final class NioProcess implements ProcessCalls {
    private static final String[] NAMES = {"standard input", "standard output", "standard error"};

    private final Process process;
    private final Registration registration = new Registration();
    private final @Nullable ByteCalls[] streams = new ByteCalls[3];

    private NioProcess(Process process, ChildCommand child) {
        this.process = process;
        Closeable[] theirs = {process.getOutputStream(), process.getInputStream(), process.getErrorStream()};
        for (int i = 0; i < streams.length; i++) {
            if (child.streams().get(i) == ChildCommand.Stream.PIPE) {
                streams[i] = new UnsupportedBytes(NAMES[i] + " of child " + process.pid(), theirs[i]);
            }
        }
    }

    static NioProcess start(ChildCommand child) throws IOException {
        ProcessBuilder jdk = new ProcessBuilder(child.command());
        if (child.onlyTheseVariables()) {
            jdk.environment().clear();
        }
        child.variables().forEach((name, value) -> {
            if (value == null) {
                jdk.environment().remove(name);
            } else {
                jdk.environment().put(name, value);
            }
        });
        Path directory = child.directory();
        if (directory != null) {
            jdk.directory(directory.toFile());
        }
        File nothing = new File(File.separatorChar == '\\' ? "NUL" : "/dev/null");
        jdk.redirectInput(
                switch (child.streams().get(0)) {
                    case PIPE -> ProcessBuilder.Redirect.PIPE;
                    case INHERIT -> ProcessBuilder.Redirect.INHERIT;
                    case DISCARD -> ProcessBuilder.Redirect.from(nothing);
                });
        jdk.redirectOutput(output(child.streams().get(1)));
        jdk.redirectError(output(child.streams().get(2)));
        NioProcess started = new NioProcess(jdk.start(), child);
        started.listen();
        return started;
    }

    private static ProcessBuilder.Redirect output(ChildCommand.Stream stream) {
        return switch (stream) {
            case PIPE -> ProcessBuilder.Redirect.PIPE;
            case INHERIT -> ProcessBuilder.Redirect.INHERIT;
            case DISCARD -> ProcessBuilder.Redirect.DISCARD;
        };
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it cannot fail, and nothing waits for it
    private void listen() {
        process.onExit().thenRun(() -> registration.setReadiness(Readiness.READABLE));
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    @Override
    public long pid() {
        return process.pid();
    }

    @Override
    public @Nullable ByteCalls stream(int number) {
        return streams[number];
    }

    @Override
    public Processes.@Nullable Ended poll() {
        return process.isAlive() ? null : new Processes.Ended(process.exitValue(), 0);
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
