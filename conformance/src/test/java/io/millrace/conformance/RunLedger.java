package io.millrace.conformance;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Writes down which test of which suite really ran, on which backend; {@link BackendsPresentTest} reads it at the end. */
final class RunLedger implements TestWatcher {
    /** Test methods by suite, e.g. {@code EpollConformanceTest/FairnessContract}. */
    private static final Map<String, Set<String>> RUN = new ConcurrentHashMap<>();

    static Set<String> run(Class<?> backend, Class<?> suite) {
        return RUN.getOrDefault(name(backend, suite), Set.of());
    }

    static boolean isEmpty() {
        return RUN.isEmpty();
    }

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
        Class<?> suite = context.getRequiredTestClass();
        RUN.computeIfAbsent(name(suite.getEnclosingClass(), suite.getSuperclass()), key -> new TreeSet<>())
                .add(context.getRequiredTestMethod().getName());
    }
}
