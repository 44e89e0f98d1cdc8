package io.millrace.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code millrace serve | doctor | version | --help}. The launcher starts {@code bench}, which is a program of its own. */
public final class Main {
    static final int USAGE = 2;

    private Main() {}

    /**
     * Runs one command. Exits with 0, or with 2 and one line on standard error.
     *
     * @param args the command and its options
     */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    static int run(String[] args, PrintStream out, PrintStream err) {
        try {
            return execute(CommandLines.create(), args, out);
        } catch (ParameterException e) {
            String command = e.getCommandLine().getCommandSpec().qualifiedName();
            return fail(err, reason(e) + "; try " + command + " --help");
        } catch (UsageException | IllegalArgumentException | IllegalStateException | IOException e) {
            return fail(err, e.getMessage());
        } catch (UncheckedIOException e) {
            Throwable cause = e.getCause();
            return fail(err, (cause == null ? e : cause).getMessage());
        }
    }

    private static String reason(ParameterException e) {
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()) {
            return "cannot understand " + unmatched.getUnmatched().getFirst();
        }
        return String.valueOf(e.getMessage());
    }

    private static int execute(CommandLine millrace, String[] args, PrintStream out)
            throws UsageException, IOException {
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
            case "serve" -> new Serve(Options.of(last)).run(out);
            case "bench" ->
                throw new UsageException(
                        "cannot bench from here: it is a program of the working copy, ./millrace bench");
            case "doctor" -> out.println(Doctor.report());
            case "version" -> out.println(version());
            default -> chosen.usage(out);
        }
        return 0;
    }

    private static String version() {
        ModuleDescriptor descriptor = Main.class.getModule().getDescriptor();
        String version =
                descriptor == null ? "(unreleased)" : descriptor.rawVersion().orElse("(unreleased)");
        return "millrace " + version + ", java " + Runtime.version();
    }

    private static int fail(PrintStream err, @Nullable String message) {
        err.println("millrace: " + message);
        return USAGE;
    }
}
