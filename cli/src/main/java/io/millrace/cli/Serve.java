package io.millrace.cli;

import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.net.SignalSource;
import io.millrace.poll.BackendReport;
import io.millrace.server.ServerContext;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs a service from its first line to its last.
 *
 * <ol>
 *   <li>Open the loops, and listen to INT and TERM on one of them: from here on a signal is an event like any other.
 *   <li>Listen, and say so in one line.
 *   <li>At the first signal stop accepting, and let connections send what they have to send, until the deadline. A second signal does not wait for it.
 *   <li>Say what was done, in one line, and end. Whatever hangs after the deadline ends with the JVM.
 *   <li>If a loop fails instead, end at once: whoever watches over the program starts it again.
 * </ol>
 */
final class Serve {
    /** For what comes after the connections: the loops' own end. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** The exit status of a program that was told twice: 128 and the number of INT, as a shell would say. */
    private static final int IMPATIENT = 130;

    private final Options options;
    private final CompletableFuture<String> stopped = new CompletableFuture<>();
    private final CompletableFuture<ServerContext> context = new CompletableFuture<>();

    private volatile boolean over;

    Serve(Options options) {
        this.options = options;
    }

    void run(PrintStream out, PrintStream err) throws UsageException, ServerFailedException, IOException {
        Service service = Service.named(options.service());
        Reactors reactors = options.open(service.loops());
        try (SignalSource signals = SignalSource.of("INT", "TERM")) {
            watch(reactors.register(signals), signals);
            TcpServer.Builder builder = options.server(reactors, service.buffer());
            service.configure(builder);
            TcpServer server = builder.start(service.handler(reactors, context::join, options.messageLimit()));
            context.complete(server.context());
            var ignored = reactors.termination().whenComplete((ended, failure) -> {
                if (failure != null) {
                    failed(failure);
                }
            });
            out.println(listening(server));
            tellWhatIsMissing(reactors.report(), err);
            serve(server, out);
        } finally {
            end(reactors);
        }
    }

    /** A backend that nobody asked for, because better ones cannot open: who expects epoll should not find out by measuring. */
    private static void tellWhatIsMissing(BackendReport report, PrintStream err) {
        if (!report.passedOver().isEmpty()) {
            BackendReport.PassedOver best = report.passedOver().getFirst();
            err.println("millrace: using " + report.chosen() + ", not " + best.name() + ": " + best.reason() + ". "
                    + best.remedy());
        }
    }

    /** Until a signal comes; or a failure, and then there is nothing to drain with. */
    private void serve(TcpServer server, PrintStream out) throws ServerFailedException {
        try {
            String signal = stopped.join();
            String end = end(server);
            out.println("stopped by SIG" + signal + ": " + totals(server) + end);
        } catch (Throwable e) {
            throw new ServerFailedException(e);
        }
    }

    /** A loop ended that was not told to. The server must not linger with connections that nobody serves. */
    void failed(Throwable failure) {
        stopped.completeExceptionally(failure);
    }

    /** Asks to be told of a signal, again and again: the first ends the server, the second the program. */
    private void watch(ReadinessDescriptor signalled, SignalSource signals) {
        signalled.notifyWhenReadable(() -> {
            for (String name = signals.poll(); name != null; name = signals.poll()) {
                if (!stopped.complete(name)) {
                    Runtime.getRuntime().halt(IMPATIENT);
                }
            }
            if (!over) {
                watch(signalled, signals);
            }
        });
    }

    private String listening(TcpServer server) {
        int loops = server.loopCount();
        return "listening on " + text(server.address()) + " (" + options.service() + ", backend " + server.backend()
                + ", " + loops + (loops == 1 ? " loop)" : " loops)");
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    private static String totals(TcpServer server) {
        long connections = server.connectionsOpened();
        return connections + (connections == 1 ? " connection, " : " connections, ") + server.bytesReceived()
                + " bytes in, " + server.bytesSent() + " bytes out";
    }

    /** On a thread of its own, so that a handler that hangs cannot keep the program. */
    private String end(TcpServer server) {
        CompletableFuture<ShutdownResult> result = new CompletableFuture<>();
        Thread.ofPlatform()
                .daemon()
                .name("millrace-drain")
                .start(() -> result.complete(server.shutdown(options.drain())));
        ShutdownResult how;
        try {
            how = result.get(options.drain().plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return "; a handler did not return";
        } catch (InterruptedException | ExecutionException e) {
            return "; the end failed: " + e;
        }
        return how.drained()
                ? ""
                : "; " + how.cutOff().size() + " cut off after "
                        + options.drain().toSeconds() + " s";
    }

    private void end(Reactors reactors) {
        over = true;
        reactors.shutdown(GRACE);
    }
}
