package io.millrace.cli;

import io.millrace.console.Console;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.VirtualThreadReport;
import io.millrace.net.PassedDescriptor;
import io.millrace.net.SignalSource;
import io.millrace.net.Systemd;
import io.millrace.poll.BackendReport;
import io.millrace.server.ServerContext;
import io.millrace.server.ShutdownResult;
import io.millrace.server.Takeover;
import io.millrace.server.TcpServer;
import io.millrace.server.UdpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsWatch;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs a service from its first line to its last.
 * <ol>
 *   <li>Open the loops, and listen to INT and TERM (and to HUP, to reload certificates) on one of them, so that a signal is an event like any other.
 *   <li>Listen, and print one line about it.
 *   <li>At the first signal, stop accepting, and let connections flush pending output until the deadline. A second
 *       signal ends it at once.
 *   <li>Print one line about what was done, and end. Whatever hangs after the deadline ends with the JVM.
 *   <li>If another process takes over instead of a signal, serve the connections that there are until they end, or until
 *       the deadline; then end in the same way.
 *   <li>If a loop fails instead, end at once, so that the supervisor can start the program again.
 * </ol>
 */
final class Serve {
    /** The time for what follows the connections: the end of the loops. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** The exit status after a second signal: 128 plus the number of INT, as in a shell. */
    private static final int IMPATIENT = 130;

    private final Options options;
    private final CompletableFuture<String> stopped = new CompletableFuture<>();
    private final CompletableFuture<ServerContext> context = new CompletableFuture<>();

    /** After a takeover, until the connections have ended by themselves. A signal completes it, too. */
    private volatile CompletableFuture<Void> draining = CompletableFuture.completedFuture(null);

    private volatile boolean over;

    Serve(Options options) {
        this.options = options;
    }

    @SuppressWarnings("try") // the console is only there meanwhile
    void run(PrintStream out, PrintStream err) throws UsageException, ServerFailedException, IOException {
        Service service = Service.of(options);
        Encryption encryption = options.encryption();
        Encryption.Made encrypted = encryption == null ? null : encryption.make(service.applicationProtocols());
        Tls watched = encrypted != null && encrypted.lasting() ? encrypted.tls() : null;
        boolean reloads = watched != null || service.reloads();
        List<PassedDescriptor> inherited = Systemd.sockets();
        Reactors reactors = options.open(service.loops());
        // HUP ends a program by default, and does so here unless there is something to reload.
        try (SignalSource signals = reloads ? SignalSource.of("INT", "TERM", "HUP") : SignalSource.of("INT", "TERM");
                TlsWatch certificates = watched != null ? TlsWatch.start(watched, reactors) : null;
                Takeover takeover = options.takeover() != null ? Takeover.begin(options.takeover()) : null) {
            watch(reactors.register(signals), signals, () -> {
                service.reload();
                if (certificates != null) {
                    certificates.reload();
                }
            });
            Running server = options.udp()
                    ? new Running.Datagrams(startDatagrams(reactors, inherited, takeover))
                    : new Running.Stream(startStream(
                            service, reactors, inherited, takeover, encrypted == null ? null : encrypted.tls()));
            if (takeover != null) {
                takeover.complete();
                endAfter(takeover, server);
            }
            var ignored = reactors.termination().whenComplete((ended, failure) -> {
                if (failure != null) {
                    endWithFailure(failure);
                }
            });
            out.println(listening(server));
            if (takeover != null && takeover.predecessor().isPresent()) {
                out.println("took over " + server.place() + " from process "
                        + takeover.predecessor().getAsLong());
            }
            tellManager("READY=1\nMAINPID=" + ProcessHandle.current().pid(), err);
            if (encrypted != null && encrypted.note() != null) {
                out.println(encrypted.note());
            }
            tellWhatIsMissing(reactors.report(), err);
            try (Console console =
                    server instanceof Running.Stream(TcpServer streams) ? openConsole(streams, out, err) : null) {
                serve(server, service, takeover, out, err);
            }
        } finally {
            end(reactors);
        }
    }

    private TcpServer startStream(
            Service service,
            Reactors reactors,
            List<PassedDescriptor> inherited,
            @Nullable Takeover takeover,
            @Nullable Tls tls)
            throws IOException {
        TcpServer.Builder builder = options.server(reactors, service.buffer());
        service.configure(builder);
        if (!inherited.isEmpty()) {
            builder.listeners(inherited);
        }
        if (takeover != null) {
            builder.takeover(takeover, options.service());
        }
        if (tls != null) {
            builder.tls(tls);
        }
        TcpServer server = service.start(builder, reactors, context::join, options.messageLimit());
        context.complete(server.context());
        return server;
    }

    private UdpServer startDatagrams(Reactors reactors, List<PassedDescriptor> inherited, @Nullable Takeover takeover)
            throws IOException {
        UdpServer.Builder builder = UdpServer.builder().manager(reactors).address(options.address());
        if (!inherited.isEmpty()) {
            builder.sockets(inherited);
        }
        if (takeover != null) {
            builder.takeover(takeover, options.service());
        }
        return builder.start((from, data) -> from.reply(data));
    }

    /** Tells the service manager, if there is one that wants to know. */
    private static void tellManager(String state, PrintStream err) {
        try {
            Systemd.notify(state);
        } catch (IOException | IllegalStateException e) {
            err.println(
                    "millrace: cannot tell the service manager " + state.replace('\n', ' ') + ": " + e.getMessage());
        }
    }

    /**
     * Reports that a better backend could not be opened, so that users who expect epoll do not find out only by
     * measuring.
     */
    private static void tellWhatIsMissing(BackendReport report, PrintStream err) {
        if (!report.passedOver().isEmpty()) {
            BackendReport.PassedOver best = report.passedOver().getFirst();
            err.println("millrace: using " + report.chosen() + ", not " + best.name() + ": " + best.reason() + ". "
                    + best.remedy());
        }
    }

    /** Opens the web console, if one was asked for, and prints its address. It stays until the server has ended. */
    private @Nullable Console openConsole(TcpServer server, PrintStream out, PrintStream err) throws IOException {
        InetSocketAddress at = options.console();
        if (at == null) {
            return null;
        }
        if (!at.getAddress().isLoopbackAddress()) {
            err.println("millrace: the console listens on " + at.getHostString()
                    + ", which other machines may reach, unencrypted: whoever has its token can close connections."
                    + " Leave out --console-host and use ssh -L instead.");
        }
        Console.Builder builder =
                Console.builder().add(options.service(), server).address(at);
        String token = System.getenv("MILLRACE_CONSOLE_TOKEN"); // not an option: every user sees those with ps(1)
        if (token != null) {
            builder.token(token);
        }
        Console console = builder.open();
        out.println("console on " + console.url());
        return console;
    }

    /** Waits for a signal, for a takeover, or for a failure, after which nothing can be drained. */
    private void serve(Running server, Service service, @Nullable Takeover takeover, PrintStream out, PrintStream err)
            throws ServerFailedException {
        try {
            String why = stopped.join();
            Duration atMost = options.drain();
            if (takeover != null && takeover.handedOver().isDone()) {
                out.println(why + ", draining " + server.open());
                service.drain();
                atMost = awaitDrained() ? options.drain() : GRACE;
            } else {
                if (takeover != null) {
                    takeover.close(); // it is too late for a successor
                }
                tellManager("STOPPING=1", err); // of a process that was taken over, it does not want to know
            }
            String end = end(server, service, atMost);
            out.println(why + ": " + server.totals() + end);
        } catch (Throwable e) {
            throw new ServerFailedException(e);
        }
    }

    /** Returns whether the connections have ended in time, or a signal said not to wait. */
    private boolean awaitDrained() throws InterruptedException, ExecutionException {
        try {
            draining.get(options.drain().toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private void endAfter(Takeover takeover, Running server) {
        var ignored = takeover.handedOver().thenAccept(successor -> {
            draining = server.drained();
            stopped.complete("handed over to process " + successor);
        });
    }

    /** Called when a loop has failed. The server must not stay around with connections that are not served. */
    void endWithFailure(Throwable failure) {
        stopped.completeExceptionally(failure);
    }

    /**
     * Asks for a notification of the next signal: HUP has certificates reloaded; otherwise the first one ends the server,
     * or the wait for its connections after a takeover, and the second one the program.
     */
    private void watch(ReadinessDescriptor signalled, SignalSource signals, Runnable reload) {
        signalled.notifyWhenReadable(() -> {
            for (String name = signals.poll(); name != null; name = signals.poll()) {
                if (name.equals("HUP")) {
                    reload.run();
                } else if (!stopped.complete("stopped by SIG" + name) && !draining.complete(null)) {
                    Runtime.getRuntime().halt(IMPATIENT);
                }
            }
            if (!over) {
                watch(signalled, signals, reload);
            }
        });
    }

    private String listening(Running server) {
        int loops = server.loops();
        return "listening on " + server.place() + " (" + options.service() + ", backend " + server.backend() + ", "
                + loops + (loops == 1 ? " loop" : " loops") + style() + ")";
    }

    /** Says where conversations run, because that decides what they cost. */
    private String style() {
        if (!options.direct()) {
            return "";
        }
        boolean onLoops = options.loopThreads() && VirtualThreadReport.probe().onLoops();
        return ", direct style, virtual threads on " + (onLoops ? "the loops" : "the JDK's scheduler");
    }

    /** Runs on a new thread, so that a handler that hangs cannot keep the program alive. */
    private String end(Running server, Service service, Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        CompletableFuture<ShutdownResult> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("millrace-drain").start(() -> {
            ShutdownResult how = server.shutdown(atMost);
            service.end(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            result.complete(how);
        });
        ShutdownResult how;
        try {
            how = result.get(atMost.plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return "; a handler did not return";
        } catch (InterruptedException | ExecutionException e) {
            return "; the end failed: " + e;
        }
        return how.drained() ? "" : "; " + how.cutOff().size() + " cut off after " + atMost.toSeconds() + " s";
    }

    private void end(Reactors reactors) {
        over = true;
        reactors.shutdown(GRACE);
    }
}
