package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testkit.ManagerContract;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
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

/** The way from a behaviour of the contract to its tests: each id stands in the display name of one, and none stands for too many. */
@DisplayName("Ids of the contract")
class ContractIdsTest {
    private static final Pattern ID = Pattern.compile("\\b(mio|tip|grpc|mr)-\\d+\\b");
    private static final int MOST_IDS = 3;

    /** What the suites here owe: all of mio and tip, and these of the others. */
    private static Set<String> owed() {
        Set<String> ids = new TreeSet<>(List.of("mr-5", "mr-6", "mr-7"));
        IntStream.rangeClosed(1, 14).forEach(n -> ids.add("tip-" + n));
        IntStream.rangeClosed(1, 32).forEach(n -> ids.add("mio-" + n));
        // Managers. 13 is the engine's own test, 16 the server's.
        IntStream.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18).forEach(n -> ids.add("grpc-" + n));
        return ids;
    }

    @Test
    void everyIdHasATest() throws Exception {
        Map<String, List<String>> tests = new TreeMap<>();
        for (Method test : tests()) {
            for (String id : ids(test)) {
                tests.computeIfAbsent(id, key -> new ArrayList<>())
                        .add(test.getDeclaringClass().getSimpleName() + "." + test.getName());
            }
        }
        for (Class<?> type : classes()) {
            for (String id : ids(type)) {
                tests.computeIfAbsent(id, key -> new ArrayList<>()).add(type.getSimpleName());
            }
        }
        assertThat(tests.keySet()).containsAll(owed());
    }

    @Test
    void noTestStandsForTooMany() throws Exception {
        for (Method test : tests()) {
            assertThat(ids(test)).as(test.toString()).hasSizeLessThanOrEqualTo(MOST_IDS);
        }
    }

    private static Set<String> ids(AnnotatedElement test) {
        DisplayName name = test.getAnnotation(DisplayName.class);
        Set<String> ids = new TreeSet<>();
        if (name != null) {
            ID.matcher(name.value()).results().map(MatchResult::group).forEach(ids::add);
        }
        return ids;
    }

    /** Of the suites that run here, and of this module's own classes. */
    private static List<Class<?>> classes() throws IOException, URISyntaxException, ClassNotFoundException {
        List<Class<?>> classes = new ArrayList<>(BackendsPresentTest.suites());
        classes.addAll(BackendsPresentTest.suites(ManagerContract.class));
        Path here = Path.of(ContractIdsTest.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        ClassLoader loader = ContractIdsTest.class.getClassLoader();
        try (Stream<Path> files = Files.list(here.resolve("io/millrace/conformance"))) {
            for (String file : files.map(Path::getFileName).map(Path::toString).toList()) {
                if (file.endsWith("Test.class")) {
                    String name = file.substring(0, file.length() - ".class".length());
                    // Not initialised: some take long.
                    classes.add(Class.forName("io.millrace.conformance." + name, false, loader));
                }
            }
        }
        return classes;
    }

    private static List<Method> tests() throws IOException, URISyntaxException, ClassNotFoundException {
        return classes().stream()
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .toList();
    }
}
