package io.millrace.cli;

import io.millrace.console.Top;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.module.ModuleDescriptor;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * {@code millrace serve | proxy | top | doctor | version | --help}. The launcher starts {@code bench}, which is a separate program.
 */
public final class Main {
    /** The arguments are invalid, or what they ask for cannot be started. */
    static final int CANNOT_START = 2;

    /** It was started but cannot continue: EX_SOFTWARE of sysexits.h. */
    static final int FAILED = 70;

    /** How long the JVM may take to exit once everything has been printed. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    static {
        // What names a failure is loaded now: later, too many files may be open to load it.
        String ignored = OneLine.of(new IllegalStateException("a rehearsal"));
    }

    private Main() {}

    /**
     * Runs one command and ends the JVM. The exit status is 0; 2 if the arguments are invalid or what they ask for
     * cannot be started; or 70 if it was started and failed. Failures print one line on standard error.
     *
     * @param args the command and its options
     */
    public static void main(String[] args) {
        exit(run(args, System.out, System.err));
    }

    /** Catches everything, so that a remaining thread does not keep a program alive that does nothing any more. */
    static int run(String[] args, PrintStream out, PrintStream err) {
        try {
            return execute(CommandLines.create(), args, out, err);
        } catch (ParameterException e) {
            String command = e.getCommandLine().getCommandSpec().qualifiedName();
            return fail(err, reason(e) + "; try " + command + " --help", CANNOT_START);
        } catch (Throwable e) {
            return fail(err, e);
        }
    }

    static int fail(PrintStream err, Throwable failure) {
        String line;
        try {
            line = OneLine.of(failure);
        } catch (Throwable e) {
            line = failure.getClass().getName(); // perhaps out of memory or descriptors
        }
        return fail(err, line, failure instanceof ServerFailedException ? FAILED : CANNOT_START);
    }

    private static int fail(PrintStream err, String line, int status) {
        err.println("millrace: " + OneLine.joined(line));
        return status;
    }

    /**
     * Ends the JVM, without waiting for ever for shutdown hooks. If no thread can be started to watch over that, the
     * hooks cannot be started either.
     */
    private static void exit(int status) {
        try {
            Thread.ofPlatform().daemon().name("millrace-exit").start(() -> {
                long since = System.nanoTime();
                while (System.nanoTime() - since < PATIENCE_NANOS) {
                    LockSupport.parkNanos(PATIENCE_NANOS);
                }
                Runtime.getRuntime().halt(status);
            });
        } catch (Throwable e) {
            Runtime.getRuntime().halt(status);
        }
        System.exit(status);
    }

    private static String reason(ParameterException e) {
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()) {
            return "cannot understand " + unmatched.getUnmatched().getFirst();
        }
        return String.valueOf(e.getMessage());
    }

    private static int execute(CommandLine millrace, String[] args, PrintStream out, PrintStream err)
            throws UsageException, ServerFailedException, IOException {
        ParseResult parsed = millrace.parseArgs(args);
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        CommandLine chosen = last.commandSpec().commandLine();
        if (last.isUsageHelpRequested() || parsed.isUsageHelpRequested()) {
            chosen.usage(out);
            return 0;
        }
        if (parsed.isVersionHelpRequested()) {
            out.println(version());
            return 0;
        }
        switch (chosen.getCommandName()) {
            case "serve" -> new Serve(Options.of(last)).run(out, err);
            case "proxy" -> new Serve(Options.ofProxy(last)).run(out, err);
            case "top" -> top(last, out);
            case "bench" -> throw new UsageException("cannot bench from here: run ./millrace bench in a working copy");
            case "example" ->
                throw new UsageException("cannot run an example from here: run ./millrace example in a working copy");
            case "doctor" -> out.println(Doctor.report());
            case "version" -> out.println(version());
            default -> chosen.usage(out);
        }
        return 0;
    }

    private static void top(ParseResult parsed, PrintStream out) throws UsageException, IOException {
        int frames = parsed.matchedOptionValue("--frames", 0);
        Top top;
        try {
            URI address = URI.create(parsed.matchedPositionalValue(0, ""));
            String token = System.getenv("MILLRACE_CONSOLE_TOKEN");
            top = new Top(
                    address.getFragment() == null && token != null ? address.resolve("#token=" + token) : address);
        } catch (IllegalArgumentException e) {
            throw new UsageException(String.valueOf(e.getMessage()));
        }
        top.show(out, Duration.ofSeconds(1), frames);
    }

    private static String version() {
        ModuleDescriptor descriptor = Main.class.getModule().getDescriptor();
        String version =
                descriptor == null ? "(unreleased)" : descriptor.rawVersion().orElse("(unreleased)");
        return "millrace " + version + ", java " + Runtime.version();
    }
}
