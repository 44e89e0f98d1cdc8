package io.millrace.bench;

import io.millrace.bench.runner.Changes;
import io.millrace.bench.runner.Session;
import io.millrace.bench.runner.Settings;
import io.millrace.bench.runner.Suite;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * {@code ./millrace bench [SUITE] [--quick] [--rounds N] [--only PART] [--json FILE]}, {@code ./millrace bench compare OLD.json NEW.json} and {@code ./millrace bench scale FILE.json}. Exit status: 0; 1 if a candidate
 * failed on the way, or something became slower; 2, and one line on standard error, for what makes no sense.
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int USAGE = 2;
    private static final int MOST_ROUNDS = 1_000;
    private static final String ALL = "all";
    private static final String COMPARE = "compare";
    private static final String SCALE = "scale";

    private Main() {}

    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    static int run(String[] args, PrintStream out, PrintStream err) {
        CommandLine bench = commandLine();
        try {
            List<String> words = List.of(args);
            if (!words.isEmpty() && words.getFirst().equals(COMPARE) && !words.contains("--help")) {
                return compare(words.subList(1, words.size()), out);
            }
            if (!words.isEmpty() && words.getFirst().equals(SCALE)) {
                return ScaleCommand.run(args, out);
            }
            ParseResult parsed = bench.parseArgs(args);
            if (parsed.isUsageHelpRequested()) {
                bench.usage(out);
                return 0;
            }
            String name = parsed.matchedPositionalValue(0, "echo");
            List<Suite> suites = suites(name);
            Settings settings = settings(parsed);
            try (Session session = new Session(name, settings, out, err)) {
                return session.run(suites) ? 0 : FAILED;
            }
        } catch (UnmatchedArgumentException e) {
            return fail(err, "cannot understand " + e.getUnmatched().getFirst() + "; try millrace bench --help");
        } catch (ParameterException e) {
            return fail(err, e.getMessage() + "; try millrace bench --help");
        } catch (IllegalArgumentException | IOException e) {
            return fail(err, e.getMessage());
        } catch (InterruptedException e) {
            return fail(err, "interrupted");
        }
    }

    private static int compare(List<String> files, PrintStream out) throws IOException {
        if (files.size() != 2) {
            throw new IllegalArgumentException(
                    "compare needs two files of results: millrace bench compare OLD.json NEW.json");
        }
        Changes changes = Changes.between(Path.of(files.getFirst()), Path.of(files.getLast()));
        out.print(changes.text());
        return changes.areWorse() ? FAILED : 0;
    }

    private static List<Suite> suites(String name) {
        Map<String, Suite> suites = Suite.all();
        if (name.equals(ALL)) {
            return List.copyOf(suites.values());
        }
        Suite suite = suites.get(name);
        if (suite == null) {
            throw new IllegalArgumentException(
                    "cannot bench " + name + "; there are " + String.join(", ", suites.keySet()) + " and all");
        }
        return List.of(suite);
    }

    private static Settings settings(ParseResult parsed) throws IOException {
        Integer rounds = parsed.matchedOptionValue("--rounds", (Integer) null);
        if (rounds != null && (rounds < 1 || rounds > MOST_ROUNDS)) {
            throw new IllegalArgumentException("--rounds must be from 1 to " + MOST_ROUNDS + ", not " + rounds);
        }
        String only = only(parsed);
        Path json = parsed.matchedOptionValue("--json", (Path) null);
        if (json != null
                && (Files.isDirectory(json)
                        || !Files.isDirectory(json.toAbsolutePath().getParent()))) {
            throw new IllegalArgumentException("cannot write --json " + json + ": "
                    + (Files.isDirectory(json) ? "it is a folder" : "there is no such folder"));
        }
        Path home = Path.of(System.getProperty("millrace.home", ".")).toRealPath();
        if (!Files.isExecutable(home.resolve("millrace"))) {
            throw new IllegalArgumentException(
                    "cannot find the working copy in " + home + "; start this by ./millrace bench");
        }
        return new Settings(home, parsed.hasMatchedOption("--quick"), rounds, only, json);
    }

    private static @Nullable String only(ParseResult parsed) {
        String only = parsed.matchedOptionValue("--only", (String) null);
        try {
            Pattern.compile(only == null ? "" : only);
            return only;
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "--only must be a regular expression, not " + only + ": " + e.getDescription(), e);
        }
    }

    private static CommandLine commandLine() {
        CommandSpec spec = CommandSpec.create().name("millrace bench");
        List<String> names = new ArrayList<>(Suite.all().keySet());
        names.add(ALL);
        String suites = String.join("|", names);
        spec.usageMessage()
                .customSynopsis(
                        "millrace bench [SUITE] [OPTIONS]",
                        "millrace bench compare OLD.json NEW.json",
                        "millrace bench scale FILE.json [OPTIONS]")
                .description(
                        "Runs Millrace beside its peers, in turns, and tells the ratios with their spread. Peers that"
                                + " are not installed are named, with the command that installs them.",
                        "compare tells what became faster or slower between two runs, beyond what chance explains;"
                                + " its exit status is 1 if something became slower.",
                        "scale tells what a service of many users takes, by the figures of a run of backplane;"
                                + " scale --help has its options.")
                .sortOptions(false);
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("0..1")
                .paramLabel(suites)
                .type(String.class)
                .description("What to measure (echo).")
                .build());
        spec.addOption(flag("--quick", "Few and short rounds; echo takes less than two minutes."));
        spec.addOption(OptionSpec.builder("--rounds")
                .paramLabel("N")
                .type(Integer.class)
                .description("How often everyone is measured (mostly 10; with --quick 1 to 5).")
                .build());
        spec.addOption(OptionSpec.builder("--only")
                .paramLabel("PART")
                .type(String.class)
                .description("Only the comparisons with this in their name, as echo-50, or 'echo-(50|1000)$'.")
                .build());
        spec.addOption(OptionSpec.builder("--json")
                .paramLabel("FILE")
                .type(Path.class)
                .description("Where the figures go, with plots beside it (bench/results/SUITE-DATE.json).")
                .build());
        spec.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("This text.")
                .build());
        return new CommandLine(spec);
    }

    private static OptionSpec flag(String name, String description) {
        return OptionSpec.builder(name)
                .type(boolean.class)
                .arity("0")
                .description(description)
                .build();
    }

    private static int fail(PrintStream err, @Nullable String message) {
        err.println("millrace: " + message);
        return USAGE;
    }
}
