package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.sys.selector.KqueueShim;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Fails if a suite is run by nobody on a backend of this machine. Whether each of its tests ran is {@link RunLedger}'s business. */
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
            assertThat(nested(backend)).as(backend.getSimpleName()).containsExactlyInAnyOrderElementsOf(suites);
        }
    }

    /** Of this class and those above it: which suites are nested in it. */
    static Set<Class<?>> nested(Class<?> type) {
        Set<Class<?>> suites = new HashSet<>();
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Class<?> inner : at.getDeclaredClasses()) {
                if (inner.isAnnotationPresent(Nested.class)) {
                    suites.add(inner.getSuperclass());
                }
            }
        }
        return suites;
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
