package io.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What people read is what is compiled: every piece of Java in the README and in the pages of {@code docs} is a piece of an example, which {@link ExamplesTest} runs. */
class SnippetsTest {
    private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

    private record Snippet(Path page, String code) {}

    @Test
    @DisplayName("every piece of Java that a page shows is in an example")
    void snippetsComeFromExamples() throws IOException {
        List<String> sources = new ArrayList<>();
        for (Path source : files(Path.of("src/main/java/io/millrace/examples"), ".java")) {
            sources.add(normalised(Files.readString(source)));
        }
        // The one that needs testkit.
        sources.add(normalised(Files.readString(
                Path.of("../tests/conformance/src/test/java/io/millrace/conformance/TestingAHandlerTest.java"))));
        List<Snippet> snippets = snippets();
        assertThat(snippets).hasSizeGreaterThan(3);
        for (Snippet snippet : snippets) {
            assertThat(sources.stream().anyMatch(source -> source.contains(normalised(snippet.code()))))
                    .as("%s shows code that is in an example:%n%s", snippet.page(), snippet.code())
                    .isTrue();
        }
    }

    private static List<Snippet> snippets() throws IOException {
        List<Path> pages = new ArrayList<>(files(Path.of("../docs"), ".md"));
        pages.add(Path.of("../README.md"));
        List<Snippet> snippets = new ArrayList<>();
        for (Path page : pages) {
            JAVA.matcher(Files.readString(page))
                    .results()
                    .map((MatchResult code) -> new Snippet(page, code.group(1)))
                    .forEach(snippets::add);
        }
        return snippets;
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        }
    }

    /** Lines may be broken elsewhere, and begin elsewhere. */
    private static String normalised(String code) {
        return code.replaceAll("\\s+", "");
    }
}
