package io.millrace.bench;

import io.millrace.bench.runner.Scale;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code ./millrace bench scale FILE.json}: how many nodes and engines a service takes, by what a run of {@code backplane} has measured. */
final class ScaleCommand {
    private static final double MOST = 1e9;

    private ScaleCommand() {}

    /** The first word is {@code scale}. */
    static int run(String[] args, PrintStream out) throws IOException {
        CommandLine command = commandLine();
        ParseResult parsed = command.parseArgs(Arrays.copyOfRange(args, 1, args.length));
        if (parsed.isUsageHelpRequested()) {
            command.usage(out);
            return 0;
        }
        if (!parsed.hasMatchedPositional(0)) {
            throw new IllegalArgumentException("scale needs a file of results: millrace bench scale FILE.json");
        }
        Path results = parsed.matchedPositionalValue(0, Path.of(""));
        if (!Files.isRegularFile(results)) {
            throw new IllegalArgumentException("cannot size by " + results + ": there is no such file");
        }
        double users = positive(parsed, "--users", 0);
        double room = positive(parsed, "--room", 50);
        double lines = positive(parsed, "--lines", 1);
        double minutes = positive(parsed, "--minutes", 30);
        if (parsed.hasMatchedOption("--page")) {
            Path page = parsed.matchedOptionValue("--page", Path.of(""));
            Scale.write(results, page);
            out.println("written into " + page);
        } else {
            out.print(Scale.text(results, users == 0 ? List.of() : List.of((int) users), room, lines, minutes)
                    .stripLeading());
        }
        return 0;
    }

    private static double positive(ParseResult parsed, String name, double otherwise) {
        double value = parsed.matchedOptionValue(name, otherwise);
        if (parsed.hasMatchedOption(name) && !(value > 0 && value <= MOST)) {
            throw new IllegalArgumentException(name + " must be above 0 and at most a billion, not " + value);
        }
        return value;
    }

    private static CommandLine commandLine() {
        CommandSpec spec = CommandSpec.create().name("millrace bench scale");
        spec.usageMessage()
                .description(
                        "Tells how many nodes and engines a chat takes, by arithmetic with the costs that a run of"
                                + " ./millrace bench backplane has measured, and how well these costs predict what was measured of three nodes.")
                .sortOptions(false);
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("0..1")
                .paramLabel("FILE.json")
                .type(Path.class)
                .description("The figures, as in bench/results.")
                .build());
        spec.addOption(number("--users", "N", "Connected at a time (10,000 to 10 million)."));
        spec.addOption(number("--room", "N", "Members of a room; each user is in one (50)."));
        spec.addOption(number("--lines", "N", "Lines a minute that each user says (1)."));
        spec.addOption(number("--minutes", "N", "For how long a user stays (30)."));
        spec.addOption(OptionSpec.builder("--page")
                .paramLabel("PAGE")
                .type(Path.class)
                .description("Put the usual tables between the marks of this page, docs/scaling.md.")
                .build());
        spec.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("This text.")
                .build());
        return new CommandLine(spec);
    }

    private static OptionSpec number(String name, String label, String description) {
        return OptionSpec.builder(name)
                .paramLabel(label)
                .type(Double.class)
                .description(description)
                .build();
    }
}
