package io.millrace.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The command line of {@code millrace}. Written with picocli's builders rather than its annotations, which it would
 * have to find by reflection at every start.
 */
final class CommandLines {
    private CommandLines() {}

    static CommandLine create() {
        CommandLine millrace = command(
                "millrace", "An event engine for the JVM: servers to try it with, and a report on this machine.");
        millrace.getCommandSpec()
                .addOption(OptionSpec.builder("-V", "--version")
                        .versionHelp(true)
                        .description("Prints the versions of Millrace and of the JVM.")
                        .build());
        millrace.addSubcommand("serve", serve());
        millrace.addSubcommand("proxy", proxy());
        millrace.addSubcommand("top", top());
        millrace.addSubcommand(
                "doctor",
                command(
                        "doctor",
                        "Prints which backend is used here, why not a better one, and which limits of this machine to"
                                + " raise."));
        millrace.addSubcommand(
                "bench", command("bench", "Compares Millrace with its competitors; see millrace bench --help."));
        millrace.addSubcommand(
                "example", command("example", "Runs an example of this working copy; without a name, lists them."));
        millrace.addSubcommand("version", command("version", "Prints the versions of Millrace and of the JVM."));
        return millrace;
    }

    private static CommandLine command(String name, String description) {
        CommandSpec spec = CommandSpec.create()
                .name(name)
                .addOption(OptionSpec.builder("-h", "--help")
                        .usageHelp(true)
                        .description("This text.")
                        .build());
        spec.usageMessage()
                .description(description)
                .abbreviateSynopsis(true)
                .commandListHeading("%nCommands:%n")
                .sortOptions(false);
        return new CommandLine(spec);
    }

    private static CommandLine serve() {
        CommandLine serve =
                command("serve", "Runs a server until Ctrl-C or SIGTERM; then drains it and prints totals.");
        CommandSpec spec = serve.getCommandSpec();
        spec.usageMessage().customSynopsis("millrace serve [echo|chat|redis|http DIR] [OPTIONS]");
        spec.usageMessage()
                .footer(
                        "%nExit status: 0 after a signal or a takeover, 2 if it cannot start, 3 if the heap is full, 70 if it fails later, 130 on a second signal.");
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("0..1")
                .paramLabel("echo|chat|redis|http")
                .type(String.class)
                .defaultValue("echo")
                .description(
                        "echo: sends every byte back. chat: sends each line to everyone.",
                        "redis: a small in-memory RESP2 server; an example, not a database.",
                        "http: the files of a directory, DIR, over HTTP/1.1.",
                        "The default is echo.")
                .build());
        spec.addPositional(PositionalParamSpec.builder()
                .index("1")
                .arity("0..1")
                .paramLabel("DIR")
                .type(String.class)
                .description("The directory that http serves; nothing outside it is served.")
                .build());
        spec.addOption(text("--host", "HOST", "127.0.0.1", "Address to listen on (127.0.0.1)."));
        spec.addOption(number("--port", "PORT", "Port to listen on, 0 for any (7007)."));
        spec.addOption(text("--unix", "PATH", null, "Listens at a Unix socket instead."));
        addUnixMode(spec);
        spec.addOption(OptionSpec.builder("--udp")
                .arity("0")
                .type(boolean.class)
                .description("For echo: sends datagrams back, instead of the bytes of connections.")
                .build());
        spec.addOption(
                text(
                        "--style",
                        "STYLE",
                        "callback",
                        "callback, or direct: for echo, code that blocks, on a virtual thread for each connection (callback)."));
        spec.addOption(
                text(
                        "--backplane",
                        "URL",
                        null,
                        "For chat: one room on all nodes with this URL: redis://HOST:PORT, nats://HOST:PORT, or memory: for one node."));
        addCommon(spec, "one per core; redis: 1", "262144 on the loop, else 8192; redis: 16384");
        spec.addOption(number(
                "--idle",
                "SECONDS",
                "Closes connections that are silent for this long (0: never); a line or command gets at most 60."));
        return serve;
    }

    private static CommandLine proxy() {
        CommandLine proxy = command(
                "proxy",
                "Passes connections on to another server until Ctrl-C or SIGTERM; then drains them and prints totals.");
        CommandSpec spec = proxy.getCommandSpec();
        spec.usageMessage().customSynopsis("millrace proxy LISTEN UPSTREAM [OPTIONS]");
        spec.usageMessage()
                .footer(
                        "%nFor example: millrace proxy 127.0.0.1:7008 127.0.0.1:7007%n"
                                + "Exit status: 0 after a signal or a takeover, 2 if it cannot start, 70 if it fails later, 130 on a second signal.");
        spec.addPositional(address(
                "0", "LISTEN", "Address to listen on, as HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 for any."));
        spec.addPositional(
                address("1", "UPSTREAM", "The server to pass connections on to, as HOST:PORT or unix:PATH."));
        addUnixMode(spec);
        spec.addOption(number(
                "--connect-timeout", "SECONDS", "How long the upstream server may take to accept (10; 0: for ever)."));
        spec.addOption(OptionSpec.builder("--upstream-tls")
                .arity("0")
                .type(boolean.class)
                .description("Speaks TLS to the upstream server, and verifies its name.")
                .build());
        spec.addOption(text(
                "--upstream-ca",
                "FILE",
                null,
                "The authorities that may have issued its certificate, in PEM (the platform's); implies"
                        + " --upstream-tls."));
        addCommon(spec, "one per core", "262144 on the loop, else 8192");
        spec.addOption(number("--idle", "SECONDS", "Closes connections that are silent for this long (0: never)."));
        return proxy;
    }

    private static CommandLine top() {
        CommandLine top = command("top", "Shows in the terminal what a server with a console does, until Ctrl-C.");
        CommandSpec spec = top.getCommandSpec();
        spec.usageMessage().customSynopsis("millrace top ADDRESS [OPTIONS]");
        spec.addPositional(
                address(
                        "0",
                        "ADDRESS",
                        "What serve --console has printed, with its token: http://127.0.0.1:…/#token=…, or without it if MILLRACE_CONSOLE_TOKEN is set."));
        spec.addOption(number("--frames", "N", "Ends after so many refreshes, one a second (never)."));
        return top;
    }

    private static void addUnixMode(CommandSpec spec) {
        spec.addOption(text(
                "--unix-mode", "MODE", null, "Permissions of the socket's file, in octal, such as 660 (the umask's)."));
    }

    private static PositionalParamSpec address(String index, String label, String description) {
        return PositionalParamSpec.builder()
                .index(index)
                .arity("1")
                .paramLabel(label)
                .type(String.class)
                .description(description)
                .build();
    }

    /** What every server has. */
    private static void addCommon(CommandSpec spec, String loops, String buffer) {
        spec.addOption(number("--loops", "N", "Number of loops, each with a thread (" + loops + ")."));
        spec.addOption(text("--backend", "NAME", null, "epoll, kqueue, poll or nio (the best that opens)."));
        spec.addOption(text(
                "--dispatch",
                "MODE",
                "loop",
                "Where handlers run: on the loop, on a pool, or on virtual threads (loop)."));
        spec.addOption(OptionSpec.builder("--no-loop-threads")
                .description("Keeps virtual threads off the loops, on the JDK's scheduler.")
                .build());
        spec.addOption(number("--workers", "N", "Threads of the pool, with --dispatch pool (one per core)."));
        spec.addOption(number(
                "--spin",
                "MICROS",
                "How long a loop looks for work before it sleeps; keeps a core busy for that time (0)."));
        spec.addOption(number("--buffer", "BYTES", "How much is read at once (" + buffer + ")."));
        spec.addOption(number("--max-connections", "N", "Refuses further connections (no limit)."));
        spec.addOption(
                number("--max-per-address", "N", "Refuses further connections from the same address (no limit)."));
        spec.addOption(text(
                "--tls-cert",
                "FILE",
                null,
                "Encrypts connections with TLS: the server's certificate in PEM, followed by its authorities'. Reloaded"
                        + " when its file changes, or on SIGHUP."));
        spec.addOption(text("--tls-key", "FILE", null, "The private key of that certificate, in PEM."));
        spec.addOption(text(
                "--tls",
                "self-signed",
                null,
                "Encrypts with a certificate for localhost that is made for this run; prints its fingerprint."));
        spec.addOption(OptionSpec.builder("--console")
                .arity("0..1")
                .fallbackValue("0")
                .paramLabel("PORT")
                .type(Integer.class)
                .description("Shows what the server does on a web page, and prints its address (any free port).")
                .build());
        spec.addOption(text("--console-host", "HOST", null, "Address of that page (127.0.0.1)."));
        spec.addOption(text(
                "--takeover",
                "PATH",
                null,
                "Takes over the listening sockets of the process that was started with the same PATH, if there is one, and"
                        + " hands them over to the next. Nobody is refused meanwhile."));
        spec.addOption(number(
                "--drain",
                "SECONDS",
                "How long connections may take to end when the server stops or is taken over (5)."));
    }

    private static OptionSpec text(String name, String label, @Nullable String value, String description) {
        return OptionSpec.builder(name)
                .paramLabel(label)
                .type(String.class)
                .defaultValue(value)
                .description(description)
                .build();
    }

    private static OptionSpec number(String name, String label, String description) {
        return OptionSpec.builder(name)
                .paramLabel(label)
                .type(Integer.class)
                .description(description)
                .build();
    }
}
