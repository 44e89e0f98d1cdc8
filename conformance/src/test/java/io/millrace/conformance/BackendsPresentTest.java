package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.testkit.PollContract;
import io.millrace.testkit.ReadinessContract;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Fails if a backend of this machine was left out: a suite that no class runs, and a test that was disabled, aborted or never
 * started. Comes last: see {@code junit-platform.properties}.
 */
@Order(Integer.MAX_VALUE)
@DisplayName("No backend is skipped silently")
class BackendsPresentTest {
    private static final List<Class<?>> BACKENDS = backends();

    private static List<Class<?>> backends() {
        List<Class<?>> all = new ArrayList<>(List.of(PollConformanceTest.class, NioConformanceTest.class));
        if (System.getProperty("os.name", "").equals("Linux")) {
            all.add(EpollConformanceTest.class);
            all.add(ChaosConformanceTest.class);
        }
        if (KqueueShim.built().library() != null) {
            all.add(KqueueConformanceTest.class);
        }
        return all;
    }

    @Test
    @DisplayName("tip-1: every suite of the testkit stands in the class of every backend")
    void everySuiteIsThere() throws Exception {
        List<Class<?>> suites = suites();
        assertThat(suites).hasSizeGreaterThan(10);
        for (Class<?> backend : BACKENDS) {
            Set<Class<?>> present = Arrays.stream(backend.getDeclaredClasses())
                    .filter(nested -> nested.isAnnotationPresent(Nested.class))
                    .map(Class::getSuperclass)
                    .collect(Collectors.toSet());
            assertThat(present).as(backend.getSimpleName()).containsExactlyInAnyOrderElementsOf(suites);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX) // elsewhere descriptors cannot be counted, and those tests are aborted
    @DisplayName("tip-1: every test of every suite ran on every backend")
    void everyTestRan() throws Exception {
        assumeThat(System.getProperty("test"))
                .as("-Dtest chooses some tests, so nobody expects all of them")
                .isNull();
        assertThat(RunLedger.isEmpty())
                .as("nothing was written down: did this test run first?")
                .isFalse();
        for (Class<?> backend : BACKENDS) {
            for (Class<?> suite : suites()) {
                assertThat(RunLedger.run(backend, suite))
                        .as(suite.getSimpleName() + " on " + backend.getSimpleName())
                        .containsExactlyInAnyOrderElementsOf(tests(suite));
            }
        }
    }

    private static Set<String> tests(Class<?> suite) {
        return Arrays.stream(suite.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(method -> method.getName())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static List<Class<?>> suites() throws IOException, URISyntaxException, ClassNotFoundException {
        return suites(PollContract.class);
    }

    /** Found in the testkit's jar or directory, so that a new suite is missed by nobody. */
    static List<Class<?>> suites(Class<?> base) throws IOException, URISyntaxException, ClassNotFoundException {
        Path origin = Path.of(ReadinessContract.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        if (Files.isDirectory(origin)) {
            return suitesIn(origin, base);
        }
        try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + origin.toUri()), Map.of())) {
            return suitesIn(jar.getPath("/"), base);
        }
    }

    private static List<Class<?>> suitesIn(Path root, Class<?> base) throws IOException, ClassNotFoundException {
        List<String> names;
        try (Stream<Path> files = Files.list(root.resolve("io/millrace/testkit"))) {
            names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("Contract.class"))
                    .map(name -> "io.millrace.testkit." + name.substring(0, name.length() - ".class".length()))
                    .toList();
        }
        List<Class<?>> suites = new ArrayList<>();
        for (String name : names) {
            Class<?> type = Class.forName(name);
            if (base.isAssignableFrom(type) && type != base) {
                assertThat(Modifier.isAbstract(type.getModifiers())).as(name).isTrue();
                suites.add(type);
            }
        }
        return suites;
    }
}
