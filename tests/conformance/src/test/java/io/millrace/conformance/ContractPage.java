package io.millrace.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code docs/contract.md} beside the tests of this repository: what does not fit, and how to mend it.
 *
 * <p>A row of the page has an id, a behaviour and at least one test. A test proves an id if its {@code @DisplayName} has it. {@link #main} rewrites the third column: it
 * keeps the tests that still prove the id and, where none is left, takes one that does.
 *
 * <p>It is a program of one file and needs Java 17 only, so that {@code tools/contract} can start it without a build.
 */
final class ContractPage {
    static final String PAGE = "docs/contract.md";
    /** What stands in a row whose test is still to come. */
    static final String NO_TEST = "–";

    private static final Pattern ID =
            Pattern.compile("\\b(mio|tip|uni|grpc|mill|mr|end|srv|vt|tls|nty|obs|bp)-\\d+\\b");
    private static final Pattern ROW = Pattern.compile("\\| (" + ID.pattern() + ") \\| (.*) \\| ([^|]*) \\|");
    private static final Pattern LINK = Pattern.compile("\\[([^\\]]+)\\]\\(([^)]+)\\)");
    /** A display name, which may be put together of several strings. */
    private static final Pattern DISPLAY_NAME =
            Pattern.compile("@DisplayName\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"[\\s+]*)+)\\)", Pattern.DOTALL);
    /** What may stand between a display name and what it names: other annotations, comments and modifiers. */
    private static final Pattern BETWEEN = Pattern.compile(
            "(?:\\s+|//[^\\n]*|/\\*.*?\\*/|@\\w+(?:\\((?:\"(?:[^\"\\\\]|\\\\.)*\"|[^()\"]|\\([^()]*\\))*\\))?"
                    + "|\\b(?:public|protected|private|static|final|abstract|default|sealed)\\b)*+",
            Pattern.DOTALL);

    private static final Pattern TYPE = Pattern.compile("(?:class|interface|record)\\s+(\\w+)");
    private static final Pattern METHOD = Pattern.compile("[\\w.<>,?\\[\\]\\s]+?\\s(\\w+)\\s*\\(");

    private final Path root;
    private final List<String> lines;
    private final List<Row> rows = new ArrayList<>();
    private final List<ProvingTest> tests;

    /**
     * One row.
     *
     * @param line counted from 0
     * @param tests the third column
     */
    record Row(int line, String id, String behaviour, String tests) {
        String markdown(String newTests) {
            return "| " + id + " | " + behaviour + " | " + newTests + " |";
        }
    }

    /**
     * A test with a display name.
     *
     * @param file from the root of the repository
     * @param name {@code Class#method}, {@code Class}, or {@code Class.Nested}
     * @param displayName as it is in the source, quotes and all
     */
    record ProvingTest(String file, String name, String displayName, Set<String> ids) {
        String link() {
            return "[" + name + "](../" + file + ")";
        }
    }

    private ContractPage(Path root, List<String> lines, List<ProvingTest> tests) {
        this.root = root;
        this.lines = lines;
        this.tests = tests;
        for (int i = 0; i < lines.size(); i++) {
            Matcher row = ROW.matcher(lines.get(i));
            if (row.matches()) {
                rows.add(new Row(i, row.group(1), row.group(3), row.group(4).strip()));
            }
        }
    }

    static ContractPage read(Path root) throws IOException {
        return new ContractPage(root, Files.readAllLines(root.resolve(PAGE)), testsOf(root));
    }

    List<Row> rows() {
        return rows;
    }

    List<ProvingTest> tests() {
        return tests;
    }

    // ---- What does not fit ----

    /**
     * Everything that is wrong with the page, one line each, with the line to correct; empty if nothing is.
     *
     * @param coming ids whose tests are still to come
     */
    List<String> problems(Set<String> coming) {
        List<String> problems = new ArrayList<>();
        Set<String> onThePage = new HashSet<>();
        for (Row row : rows) {
            if (!onThePage.add(row.id())) {
                problems.add(at(row) + "stands on the page twice");
            }
            if (coming.contains(row.id())) {
                if (proves(row.id()).findAny().isPresent()) {
                    problems.add(
                            at(row) + "has a test now: take it off the list of those to come, and run tools/contract");
                } else if (!row.tests().equals(NO_TEST)) {
                    problems.add(at(row) + "has no test yet, so its last column must be " + NO_TEST);
                }
            } else {
                problemsOfTests(row, problems);
            }
        }
        Map<String, ProvingTest> unknown = new LinkedHashMap<>();
        tests.forEach(test -> test.ids().forEach(id -> {
            if (!onThePage.contains(id)) {
                unknown.putIfAbsent(id, test);
            }
        }));
        unknown.forEach((id, test) ->
                problems.add(PAGE + ": " + id + " is named by " + test.name() + " and does not stand on the page"));
        coming.stream()
                .filter(id -> !onThePage.contains(id))
                .forEach(id -> problems.add(PAGE + ": " + id + " is on the list of those to come and not on the page"));
        return problems;
    }

    private void problemsOfTests(Row row, List<String> problems) {
        List<MatchResult> links = LINK.matcher(row.tests()).results().toList();
        if (proves(row.id()).findAny().isEmpty()) {
            problems.add(at(row) + "has no test: no display name has this id");
        } else if (links.isEmpty()) {
            problems.add(at(row) + "names no test; tools/contract would write " + best(row.id()));
        }
        for (MatchResult link : links) {
            if (proves(row.id()).noneMatch(test -> test.link().equals(link.group()))) {
                problems.add(at(row) + reason(link) + "; tools/contract would write " + corrected(row));
            }
        }
    }

    private String at(Row row) {
        return PAGE + ":" + (row.line() + 1) + ": " + row.id() + " ";
    }

    private String reason(MatchResult link) {
        if (tests.stream().anyMatch(test -> test.link().equals(link.group()))) {
            return "names " + link.group(1) + ", whose display name does not have this id";
        }
        if (!Files.exists(root.resolve("docs").resolve(link.group(2)))) {
            return "names " + link.group(1) + ", whose file is not there";
        }
        return "names " + link.group(1) + ", which is not there or has no display name";
    }

    // ---- What to write instead ----

    private String corrected(Row row) {
        Set<String> proving = proves(row.id()).map(ProvingTest::link).collect(Collectors.toSet());
        String kept = LINK.matcher(row.tests())
                .results()
                .map(MatchResult::group)
                .filter(proving::contains)
                .collect(Collectors.joining(", "));
        return kept.isEmpty() ? best(row.id()) : kept;
    }

    /** A method rather than a class, one that is about this id alone, and one that runs on every backend. */
    private String best(String id) {
        Optional<ProvingTest> best = proves(id)
                .min(Comparator.comparing((ProvingTest test) -> !test.name().contains("#"))
                        .thenComparing(test -> test.ids().size())
                        .thenComparing(test -> !test.file().startsWith("testkit/"))
                        .thenComparing(test -> !test.file().contains("conformance/")));
        return best.map(ProvingTest::link).orElse(NO_TEST);
    }

    private Stream<ProvingTest> proves(String id) {
        return tests.stream().filter(test -> test.ids().contains(id));
    }

    private void write() throws IOException {
        for (Row row : rows) {
            String tests = corrected(row);
            if (!tests.equals(row.tests())) {
                System.out.println(at(row) + tests);
                lines.set(row.line(), row.markdown(tests));
            }
        }
        Files.writeString(root.resolve(PAGE), String.join("\n", lines) + "\n");
    }

    /**
     * Rewrites the column of tests.
     *
     * @param args the root of the repository; none for the working directory
     */
    public static void main(String[] args) throws IOException {
        ContractPage page = read(Path.of(args.length == 0 ? "." : args[0]));
        page.write();
        page.rows().stream()
                .filter(row -> page.proves(row.id()).findAny().isEmpty())
                .forEach(row -> System.out.println(page.at(row) + "has no test"));
    }

    // ---- Tests ----

    /** Everything with a display name, in the tests of all modules and in the suites of the testkit; in the order of files. */
    private static List<ProvingTest> testsOf(Path root) throws IOException {
        List<ProvingTest> found = new ArrayList<>();
        // A module is a folder of the repository, or of one that has several under its roof.
        try (Stream<Path> modules =
                Files.find(root, 2, (folder, attributes) -> Files.exists(folder.resolve("pom.xml")))) {
            for (Path module :
                    modules.filter(folder -> !folder.equals(root)).sorted().toList()) {
                for (String folder : List.of("src/test/java", "src/main/java")) {
                    if (Files.isDirectory(module.resolve(folder))) {
                        collect(root, module.resolve(folder), found);
                    }
                }
            }
        }
        return found;
    }

    private static void collect(Path root, Path sources, List<ProvingTest> found) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                String source = Files.readString(file);
                String type = file.getFileName().toString().replace(".java", "");
                Matcher name = DISPLAY_NAME.matcher(source);
                while (name.find()) {
                    found.add(new ProvingTest(
                            root.relativize(file).toString().replace('\\', '/'),
                            declaredAt(source, name.end(), type),
                            name.group(1),
                            ids(name.group(1))));
                }
            }
        }
    }

    /** The name of what is declared behind a display name. */
    private static String declaredAt(String source, int from, String outermost) {
        Matcher between = BETWEEN.matcher(source).region(from, source.length());
        int at = between.lookingAt() ? between.end() : from;
        Matcher type = TYPE.matcher(source).region(at, source.length());
        if (type.lookingAt()) {
            return type.group(1).equals(outermost) ? outermost : outermost + "." + type.group(1);
        }
        Matcher method = METHOD.matcher(source).region(at, source.length());
        return outermost + "#" + (method.lookingAt() ? method.group(1) : "?");
    }

    private static Set<String> ids(String displayName) {
        return ID.matcher(displayName).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
    }
}
