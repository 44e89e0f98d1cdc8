package io.millrace.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The API does not change unnoticed: each library has a file {@code api.txt}, and who changes the API changes that file, too. */
class PublicApiTest {
    private static final Path ROOT = Path.of("../..");
    private static final Pattern EXPORT = Pattern.compile("(?m)^ *exports ([\\w.]+);");
    /** Nobody depends on these. */
    private static final Set<String> PROGRAMS = Set.of("cli", "examples");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/"))
            .importPackages("io.millrace");

    static List<Path> libraries() throws IOException {
        try (Stream<Path> layers = Files.list(ROOT);
                Stream<Path> bridges = Files.list(ROOT.resolve("bridges"))) {
            return Stream.concat(layers, bridges)
                    .filter(folder -> Files.exists(folder.resolve("src/main/java/module-info.java")))
                    .filter(folder -> !PROGRAMS.contains(folder.getFileName().toString()))
                    .filter(folder -> !exports(folder).isEmpty())
                    .sorted()
                    .toList();
        }
    }

    private static Set<String> exports(Path folder) {
        try {
            return EXPORT.matcher(Files.readString(folder.resolve("src/main/java/module-info.java")))
                    .results()
                    .map((MatchResult export) -> export.group(1))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("the BOM has every library")
    void everyLibraryIsInTheBom() throws IOException {
        String bom = Files.readString(ROOT.resolve("bom/pom.xml"));
        assertThat(libraries())
                .hasSizeGreaterThan(8)
                .allSatisfy(folder ->
                        assertThat(bom).contains("<artifactId>millrace-" + folder.getFileName() + "</artifactId>"));
        assertThat(bom).contains("<artifactId>millrace-sys</artifactId>");
    }

    @ParameterizedTest
    @MethodSource("libraries")
    @DisplayName("the API is what api.txt says")
    void apiIsWrittenDown(Path folder) throws IOException {
        String module = Pattern.compile("(?s).*\\bmodule ([\\w.]+) \\{.*")
                .matcher(Files.readString(folder.resolve("src/main/java/module-info.java")))
                .replaceFirst("$1");
        String api = PublicApi.of(module, exports(folder), CLASSES);
        Path file = folder.resolve("api.txt");
        if (Boolean.getBoolean("millrace.api.write")) {
            Files.writeString(file, api);
        }
        assertThat(api.lines().count()).as("lines of the API of %s", module).isGreaterThan(3);
        assertThat(Files.exists(file) ? Files.readString(file) : "")
                .as("%s: if the change of the API is intended, run tools/api, and read what git diff says", file)
                .isEqualTo(api);
    }
}
