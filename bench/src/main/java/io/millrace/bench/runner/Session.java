package io.millrace.bench.runner;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One run of the program: what suites need to make a comparison, and where its outcome goes. */
public final class Session implements AutoCloseable {
    private final Settings settings;
    private final PrintStream out;
    private final Progress progress;
    private final Children children = Children.open();
    private final Report report;
    private boolean failed;
    /** Names of comparisons that nobody asked for. */
    private final List<String> leftOut = new ArrayList<>();

    private boolean compared;

    public Session(String name, Settings settings, PrintStream out, PrintStream err) {
        this.settings = settings;
        this.out = out;
        this.progress = new Progress(err, Progress.isTerminal());
        this.report = new Report(name, settings);
    }

    /** Runs suites one after the other; tells whether everybody who took part went through. */
    public boolean run(Iterable<Suite> suites) throws IOException, InterruptedException {
        print("network: " + Machine.network());
        print("load average before: " + Machine.loadAverage());
        if (settings.quick()) {
            print("--quick: few and short rounds; differences below 10 % mean nothing");
        }
        for (Suite suite : suites) {
            suite.run(this);
        }
        progress.clear();
        if (!compared && !leftOut.isEmpty()) {
            throw new IllegalArgumentException("no comparison has --only " + settings.only()
                    + " in its name; there are " + String.join(", ", leftOut));
        }
        if (Files.exists(report.file())) {
            print("figures: " + shown(report.file()));
        }
        return !failed;
    }

    private String shown(Path file) {
        Path home = settings.home();
        return (file.startsWith(home) ? home.relativize(file) : file).toString();
    }

    Settings settings() {
        return settings;
    }

    Children children() {
        return children;
    }

    Progress progress() {
        return progress;
    }

    /** Where a child's standard error goes. */
    Path log(String name) {
        return settings.home()
                .resolve("bench/target/run")
                .resolve(name.toLowerCase(java.util.Locale.ROOT).replaceAll("[^a-z0-9]+", "-") + ".log");
    }

    void absent(Absent who) {
        report.add(who);
        print(who.text());
    }

    /** Something the reader should know. */
    void print(String line) {
        progress.clear();
        out.println(line);
    }

    /** The figures of what was compared so far; empty if nothing was. */
    Optional<Path> figures() {
        return Files.exists(report.file()) ? Optional.of(report.file()) : Optional.empty();
    }

    /** Waits for a server to end what its load has left it to do. */
    void settle(Server server) throws InterruptedException {
        if (!server.settle()) {
            print("still busy " + Server.SETTLE_SECONDS + " s after its load has ended, and in the way of the next: "
                    + server.what());
        }
    }

    /** A comparison that nobody asked for, so that nothing was started for it. */
    void leaveOut(String comparison) {
        leftOut.add(comparison);
    }

    void compare(Comparison planned, int rounds) throws IOException, InterruptedException {
        if (!settings.isWanted(planned.id())) {
            leftOut.add(planned.id());
            return;
        }
        compared = true;
        Comparison comparison = planned.withBaselinePresent();
        if (comparison.candidates().isEmpty()) {
            print("left out, since nobody can take part: " + comparison.title());
            return;
        }
        Outcome outcome = new Rounds(progress::show).run(comparison, rounds);
        children.haltIfEnding();
        failed |= outcome.failed();
        report.add(outcome);
        print("");
        print(Table.of(outcome).stripTrailing());
    }

    @Override
    public void close() {
        children.close();
    }
}
