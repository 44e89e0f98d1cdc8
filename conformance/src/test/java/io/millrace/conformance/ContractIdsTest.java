package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The way from a behaviour of the contract to its tests: each id stands in the display name of one, in whatever module, and none stands for too many.
 */
@DisplayName("Ids of the contract")
class ContractIdsTest {
    private static final Pattern ID = Pattern.compile("\\b(mio|tip|uni|grpc|mill|mr|end)-\\d+\\b");
    /** A display name, which may be put together of several strings. */
    private static final Pattern NAME =
            Pattern.compile("@DisplayName\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"[\\s+]*)+)\\)", Pattern.DOTALL);

    private static final int MOST_IDS = 3;
    private static final Map<String, Integer> OWED =
            Map.of("mio", 32, "tip", 14, "uni", 13, "grpc", 18, "mill", 16, "mr", 12, "end", 4);

    private static Set<String> owed() {
        Set<String> ids = new TreeSet<>();
        OWED.forEach((kind, last) -> IntStream.rangeClosed(1, last).forEach(n -> ids.add(kind + "-" + n)));
        return ids;
    }

    @Test
    void everyIdHasATest() throws Exception {
        Map<String, String> tests = new TreeMap<>();
        for (String name : names()) {
            ids(name).forEach(id -> tests.put(id, name));
        }
        assertThat(tests.keySet()).containsExactlyInAnyOrderElementsOf(owed());
    }

    @Test
    void noTestStandsForTooMany() throws Exception {
        for (String name : names()) {
            assertThat(ids(name)).as(name).hasSizeLessThanOrEqualTo(MOST_IDS);
        }
    }

    private static Set<String> ids(String name) {
        Set<String> ids = new TreeSet<>();
        ID.matcher(name).results().map(MatchResult::group).forEach(ids::add);
        return ids;
    }

    /** Every display name in the tests of this repository, and in the suites of the testkit. */
    private static List<String> names() throws IOException {
        Path root = Path.of("..").toRealPath();
        assertThat(root.resolve("conformance")).as("the repository").isDirectory();
        List<String> names = new ArrayList<>();
        for (Path module : children(root)) {
            for (String tests : List.of("src/test/java", "src/main/java")) {
                Path sources = module.resolve(tests);
                if (Files.isDirectory(sources)) {
                    collect(sources, names);
                }
            }
        }
        assertThat(names).hasSizeGreaterThan(100);
        return names;
    }

    private static List<Path> children(Path root) throws IOException {
        try (Stream<Path> children = Files.list(root)) {
            return children.filter(child -> Files.exists(child.resolve("pom.xml")))
                    .toList();
        }
    }

    private static void collect(Path sources, List<String> names) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java")).toList()) {
                NAME.matcher(Files.readString(file))
                        .results()
                        .map(result -> result.group(1))
                        .forEach(names::add);
            }
        }
    }
}
