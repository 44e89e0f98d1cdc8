package io.millrace.cli;

import io.millrace.poll.BackendReport;
import io.millrace.poll.Poll;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code millrace serve | doctor | version | --help}. */
public final class Main {
    private static final int USAGE = 2;
    private static final String HELP = """
        usage: millrace <command> [options]

          serve [echo]     echo every byte back until Ctrl-C; one thread on the bare Poll
            --host HOST    address to listen on (127.0.0.1)
            --port PORT    port to listen on, 0 for any (7007)
            --backend B    epoll, kqueue, poll or nio (the best that opens)
          doctor           which backend is used here, and why not a better one
          version          the version of Millrace and of the JVM
        """;

    private Main() {}

    /**
     * Runs one command. Exits with 0, or with 2 and one line on standard error.
     *
     * @param args the command and its options
     */
    public static void main(String[] args) {
        try {
            run(Arrays.asList(args));
        } catch (UsageException | IllegalArgumentException | IllegalStateException e) {
            fail(e.getMessage());
        } catch (UncheckedIOException | IOException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            fail(cause.getMessage());
        }
    }

    private static void run(List<String> args) throws UsageException, IOException {
        String command = args.isEmpty() ? "--help" : args.getFirst();
        List<String> rest = args.isEmpty() ? args : args.subList(1, args.size());
        if (rest.contains("--help") || rest.contains("-h")) {
            command = "--help";
        }
        switch (command) {
            case "serve" -> serve(rest);
            case "doctor" -> System.out.println(BackendReport.probe());
            case "version", "--version" -> System.out.println("millrace " + version() + ", java " + Runtime.version());
            case "help", "--help", "-h" -> System.out.print(HELP);
            default -> throw new UsageException("unknown command " + command + "; try millrace --help");
        }
    }

    private static void serve(List<String> args) throws UsageException, IOException {
        List<String> options = args;
        if (!args.isEmpty() && !args.getFirst().startsWith("-")) {
            if (!args.getFirst().equals("echo")) {
                throw new UsageException("cannot serve " + args.getFirst() + "; there is echo");
            }
            options = args.subList(1, args.size());
        }
        Arguments arguments = new Arguments(options, Set.of("--host", "--port", "--backend"));
        String host = arguments.text("--host", "127.0.0.1");
        InetSocketAddress address = new InetSocketAddress(host, arguments.port("--port", 7007));
        if (address.isUnresolved()) {
            throw new UsageException("cannot resolve the host " + host);
        }
        Poll.Builder builder = Poll.builder();
        String backend = arguments.text("--backend");
        if (backend != null) {
            builder.backend(backend);
        }
        try (Poll poll = builder.open();
                EchoServer server = listen(poll, address)) {
            InetSocketAddress bound = server.address();
            System.out.println("listening on " + bound.getAddress().getHostAddress() + ":" + bound.getPort()
                    + " (echo, backend " + poll.backend() + ", 1 loop)");
            poll.run(server);
        }
    }

    private static EchoServer listen(Poll poll, InetSocketAddress address) throws UsageException {
        try {
            return new EchoServer(poll, address);
        } catch (IOException e) {
            throw new UsageException(String.valueOf(e.getMessage()));
        }
    }

    private static String version() {
        @Nullable
        String version = Main.class.getModule().getDescriptor() == null
                ? null
                : Main.class.getModule().getDescriptor().rawVersion().orElse(null);
        return version == null ? "(unreleased)" : version;
    }

    private static void fail(@Nullable String message) {
        System.err.println("millrace: " + message);
        System.exit(USAGE);
    }
}
