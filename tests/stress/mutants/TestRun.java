import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs some tests in this JVM and ends it at the first failure: {@code TestRun TEST-CLASSES TIMEOUT Class[#method],…}. A method's name may end in
 * {@code *}. Ends with 0 if all were green, 17 if one failed, 18 if there was none.
 */
final class TestRun {
    private static final int FAILED = 17;
    private static final int NONE = 18;

    private TestRun() {}

    /** One element of the list: a class, and the methods of it, or null for all. */
    private record Wanted(String className, String method) {
        /** Whether a test of this method is wanted; nested classes may come from a superclass, so the class is looked for among the ancestors. */
        boolean takes(TestDescriptor test, MethodSource source) {
            boolean inside = false;
            for (TestDescriptor one = test; one != null; one = one.getParent().orElse(null)) {
                inside |= one.getSource().orElse(null) instanceof ClassSource owner
                        && owner.getClassName().equals(className);
            }
            if (!inside) {
                return false;
            }
            if (method == null) {
                return true;
            }
            for (String pattern : method.split("\\+")) {
                String name = source.getMethodName();
                if (pattern.endsWith("*") ? name.startsWith(pattern.substring(0, pattern.length() - 1)) : name.equals(pattern)) {
                    return true;
                }
            }
            return false;
        }
    }

    public static void main(String[] arguments) throws Exception {
        var wanted = new ArrayList<Wanted>();
        for (String one : arguments[2].split(",")) {
            int hash = one.indexOf('#');
            String simple = hash < 0 ? one : one.substring(0, hash);
            for (String name : classes(Path.of(arguments[0]), simple)) {
                wanted.add(new Wanted(name, hash < 0 ? null : one.substring(hash + 1)));
            }
        }
        PostDiscoveryFilter methods = descriptor -> {
            if (descriptor.getSource().orElse(null) instanceof MethodSource source) {
                return FilterResult.includedIf(wanted.stream().anyMatch(one -> one.takes(descriptor, source)));
            }
            return FilterResult.included("not a method");
        };
        var request = LauncherDiscoveryRequestBuilder.request()
                .selectors(wanted.stream().map(one -> selectClass(one.className)).distinct().toList())
                .filters(methods)
                .configurationParameter("junit.jupiter.execution.timeout.default", arguments[1])
                .configurationParameter("junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD")
                .build();
        var passed = new AtomicInteger();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                    String what = test.getSource()
                            .map(source -> source instanceof MethodSource method
                                    ? simple(method.getClassName()) + "#" + method.getMethodName()
                                    : test.getDisplayName())
                            .orElse(test.getDisplayName());
                    System.out.println("FAILED " + what);
                    result.getThrowable().ifPresent(failure -> failure.printStackTrace(System.out));
                    end(FAILED);
                } else if (test.isTest() && result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                    passed.incrementAndGet();
                }
            }
        });
        System.out.println(passed + " passed");
        end(passed.get() == 0 ? NONE : 0);
    }

    /** With the processes that tests have started. */
    private static void end(int status) {
        System.out.flush();
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        Runtime.getRuntime().halt(status);
    }

    private static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** The classes of that simple name, in whatever package. */
    private static List<String> classes(Path root, String simple) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.getFileName().toString().equals(simple + ".class"))
                    .map(file -> root.relativize(file).toString())
                    .map(file -> file.substring(0, file.length() - ".class".length()).replace('/', '.'))
                    .toList();
        }
    }
}
