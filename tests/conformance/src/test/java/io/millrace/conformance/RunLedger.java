package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Writes down which test of which suite really ran on a backend, and fails the backend's class at its end if one did not: disabled, aborted by an assumption, or
 * never started.
 */
final class RunLedger implements TestWatcher, AfterAllCallback {
    /** Test methods by backend and suite, e.g. {@code EpollConformanceTest/FairnessContract}. */
    private static final Map<String, Set<String>> RUN = new ConcurrentHashMap<>();

    private static String name(Class<?> backend, Class<?> suite) {
        return backend.getSimpleName() + "/" + suite.getSimpleName();
    }

    // A test that was aborted by an assumption, or disabled, is not written down.

    @Override
    public void testSuccessful(ExtensionContext context) {
        write(context);
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        write(context);
    }

    private static void write(ExtensionContext context) {
        Class<?> backend = backend(context);
        Class<?> suite = context.getRequiredTestClass().getSuperclass();
        RUN.computeIfAbsent(name(backend, suite), key -> new TreeSet<>())
                .add(context.getRequiredTestMethod().getName());
    }

    /** The class that surefire was given, above the nested ones. */
    private static Class<?> backend(ExtensionContext context) {
        ExtensionContext at = context;
        while (at.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
            at = at.getParent().get();
        }
        return at.getRequiredTestClass();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        boolean nested =
                context.getParent().flatMap(ExtensionContext::getTestClass).isPresent();
        boolean skippedAloud = context.getExecutionException().isPresent();
        boolean chosen = System.getProperty("test") != null;
        // Where descriptors cannot be counted, the tests that count them are aborted.
        boolean canCount = System.getProperty("os.name", "").equals("Linux");
        if (nested || skippedAloud || chosen || !canCount) {
            return;
        }
        Class<?> backend = context.getRequiredTestClass();
        for (Class<?> suite : BackendsPresentTest.suites()) {
            assertThat(RUN.getOrDefault(name(backend, suite), Set.of()))
                    .as("the tests of " + suite.getSimpleName() + " that ran on " + backend.getSimpleName())
                    .containsExactlyInAnyOrderElementsOf(tests(suite));
        }
    }

    private static Set<String> tests(Class<?> suite) {
        return Arrays.stream(suite.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(method -> method.getName())
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
