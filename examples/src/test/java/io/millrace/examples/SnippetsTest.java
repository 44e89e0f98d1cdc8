package io.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.examples.Pages.Fence;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What people read is what is compiled: every piece of Java that a page shows is a piece of an example, which a test runs. */
class SnippetsTest {
    /** Those with the libraries of others are a module of their own. */
    private static final List<Path> MODULES =
            List.of(Pages.ROOT.resolve("examples/src"), Pages.ROOT.resolve("examples/bridges/src"));

    /** A statement or a declaration of Java, in a fence that does not say that it is one. */
    private static final Pattern LOOKS_LIKE_JAVA =
            Pattern.compile("(?m)^\\s*(import [\\w.]+;|.*\\w\\(.*\\);\\s*(//.*)?|.*\\) \\{)$");

    private static final Pattern EXPORTS = Pattern.compile("(?m)^ *exports [\\w.]+;");
    private static final Pattern OVERVIEW = Pattern.compile("(?s)\\{@snippet :\n(.*?)\n \\* \\}\n");
    private static final Pattern COMMAND = Pattern.compile("\\./millrace example ([A-Z]\\w*[a-z]\\w*)");

    @Test
    @DisplayName("every piece of Java that a page shows is in an example")
    void snippetsComeFromExamples() {
        List<String> sources = new ArrayList<>();
        for (Path source : sources()) {
            sources.add(normalised(Pages.read(source)));
        }
        List<Fence> snippets =
                shown().filter(fence -> fence.language().equals("java")).toList();
        assertThat(snippets).hasSizeGreaterThan(40);
        assertThat(snippets)
                .filteredOn(
                        snippet -> sources.stream().noneMatch(source -> source.contains(normalised(snippet.text()))))
                .as("pieces that no example has")
                .isEmpty();
    }

    @Test
    @DisplayName("the Javadoc of every module begins with a program, which is in an example")
    void overviews() {
        List<Path> modules = Pages.files(name -> name.equals("module-info.java"));
        modules.removeIf(file -> !EXPORTS.matcher(Pages.read(file)).find()
                || file.startsWith(Pages.ROOT.resolve("examples"))
                || file.startsWith(Pages.ROOT.resolve("tests")));
        assertThat(modules).hasSizeGreaterThan(8).allSatisfy(file -> {
            Matcher snippet = OVERVIEW.matcher(Pages.read(file));
            assertThat(snippet.find()).as("{@snippet : in %s", file).isTrue();
            String program = snippet.group(1).replaceAll("(?m)^ \\* ?", "");
            assertThat(sources())
                    .anyMatch(source -> normalised(Pages.read(source)).contains(normalised(program)));
        });
    }

    @Test
    @DisplayName("Java is marked as Java, so that it is compared")
    void javaIsMarked() {
        List<Fence> unmarked =
                shown().filter(fence -> fence.language().isEmpty()).toList();
        assertThat(unmarked).isNotEmpty();
        assertThat(unmarked)
                .filteredOn(fence -> LOOKS_LIKE_JAVA.matcher(fence.text()).find())
                .as("pieces that look like Java")
                .isEmpty();
    }

    @Test
    @DisplayName("the dependencies that a page shows have the version of this build")
    void versions() {
        String pom = Pages.read(Pages.ROOT.resolve("pom.xml"));
        List<String> artifacts = shown().filter(fence -> fence.language().equals("xml"))
                .flatMap(fence -> Pattern.compile(
                                "<groupId>io.millrace</groupId>\\s*<artifactId>([\\w-]+)</artifactId>\\s*<version>([^<]+)<")
                        .matcher(fence.text())
                        .results())
                .map((MatchResult found) -> found.group(1) + ":" + found.group(2))
                .toList();
        String version = pom.replaceAll("(?s).*?<artifactId>millrace</artifactId>\\s*<version>([^<]+)<.*", "$1");
        assertThat(artifacts).isNotEmpty().allMatch(artifact -> artifact.endsWith(":" + version));
    }

    @Test
    @DisplayName("the commands that pages show start examples that exist, and examples/README.md has every one")
    void commands() {
        List<String> programs = programs().stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .toList();
        List<String> started = new ArrayList<>();
        for (Path page : Pages.all()) {
            COMMAND.matcher(Pages.read(page))
                    .results()
                    .map((MatchResult command) -> command.group(1))
                    .forEach(started::add);
        }
        assertThat(programs).containsAll(started);
        String list = Pages.read(Pages.ROOT.resolve("examples/README.md"));
        assertThat(programs).allSatisfy(program -> assertThat(list).contains("./millrace example " + program));
    }

    @Test
    @DisplayName("every example is run by a test")
    void everyExampleRuns() {
        StringBuilder tests = new StringBuilder();
        for (Path test : sources()) {
            if (isIn("test", test)) {
                tests.append(Pages.read(test));
            }
        }
        assertThat(programs().stream().map(file -> file.getFileName().toString().replace(".java", "")))
                .allMatch(name -> tests.indexOf(name + ".class") >= 0 || tests.indexOf(name + ".main(") >= 0);
    }

    /** All examples and their tests, and the tests of the bridges, because not every bridge is a dependency of the examples. */
    private static List<Path> sources() {
        List<Path> sources = new ArrayList<>(Pages.files(name -> name.endsWith(".java")));
        sources.removeIf(file -> !file.startsWith(Pages.ROOT.resolve("examples"))
                && !(file.startsWith(Pages.ROOT.resolve("bridges"))
                        && file.toString().contains("/src/test/")));
        return sources;
    }

    /** The examples that can be started. */
    private static List<Path> programs() {
        List<Path> programs = new ArrayList<>(sources());
        programs.removeIf(file -> !isIn("main", file) || !Pages.read(file).contains("void main("));
        return programs;
    }

    private static boolean isIn(String part, Path file) {
        return MODULES.stream().anyMatch(module -> file.startsWith(module.resolve(part)));
    }

    /** What README, CONTRIBUTING, docs and the like show; not what tools of tests say in their own folders. */
    private static Stream<Fence> shown() {
        return Pages.all().stream()
                .filter(page -> page.startsWith(Pages.ROOT.resolve("docs"))
                        || page.startsWith(Pages.ROOT.resolve("examples"))
                        || page.getParent().equals(Pages.ROOT))
                .flatMap(page -> Pages.fences(page).stream());
    }

    /** Lines may be broken elsewhere, and begin elsewhere. */
    private static String normalised(String code) {
        return code.replaceAll("\\s+", "");
    }
}
