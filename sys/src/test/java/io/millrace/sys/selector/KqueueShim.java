package io.millrace.sys.selector;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Builds {@code sys/src/test/native/kqueue_shim.c}, our kqueue for Linux, once per JVM.
 *
 * <p>The tests of {@code conformance} use it as well, from a jar that this module makes for them.
 *
 * @param library the shared library, or null if there is none
 * @param reason why there is none, and what to do; empty if there is one
 */
public record KqueueShim(@Nullable Path library, String reason) {
    private static final String SOURCE = "sys/src/test/native/kqueue_shim.c";
    private static final String LIBRARY_PROPERTY = "millrace.kqueue.library";

    /** Made when it is needed: with a library of your own no compiler is. */
    private static final class Once {
        static final KqueueShim BUILT = build();
    }

    /** What the tests run over: the library that {@code -Dmillrace.kqueue.library} names, else ours. */
    public static KqueueShim built() {
        String named = System.getProperty(LIBRARY_PROPERTY);
        return named != null ? new KqueueShim(Path.of(named), "") : Once.BUILT;
    }

    /**
     * Makes the backend {@code kqueue} available to this JVM; to be called before its first use. Says so visibly if it cannot.
     *
     * @return whether it is available
     */
    public static boolean install() {
        KqueueShim built = built();
        if (built.library == null) {
            String required = System.getenv("MILLRACE_REQUIRE_TOOLS");
            if (required != null && !required.isEmpty() && !required.equals("0")) {
                throw new AssertionError(built.reason + " MILLRACE_REQUIRE_TOOLS is set: this must not be skipped.");
            }
            System.err.println("NOT TESTED on this machine: the kqueue backend. " + built.reason);
            return false;
        }
        System.setProperty(LIBRARY_PROPERTY, built.library.toString());
        return true;
    }

    private static KqueueShim build() {
        if (!System.getProperty("os.name", "").startsWith("Linux")) {
            return new KqueueShim(null, "The emulation is for Linux; here is " + System.getProperty("os.name") + ".");
        }
        try {
            Path directory = Files.createTempDirectory("millrace-kqueue");
            Path library = directory.resolve("libkqueue_shim.so");
            directory.toFile().deleteOnExit();
            library.toFile().deleteOnExit();
            return compile(library);
        } catch (IOException e) {
            return new KqueueShim(null, "There is no place to compile it: " + e.getMessage() + ".");
        }
    }

    private static KqueueShim compile(Path library) {
        Process gcc;
        try {
            gcc = new ProcessBuilder(
                            "gcc", "-shared", "-fPIC", "-O2", "-pthread", flavor(), "-o", library.toString(), source())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            return new KqueueShim(
                    null,
                    "There is no gcc (" + e.getMessage() + "). Install it: sudo apt-get install -y gcc libc6-dev");
        }
        try {
            String output = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (gcc.waitFor() != 0) {
                throw new IllegalStateException("gcc cannot compile " + source()
                        + " (if headers are missing: sudo apt-get install -y libc6-dev):\n" + output);
            }
            return new KqueueShim(library, "");
        } catch (IOException e) {
            return new KqueueShim(null, "The output of gcc cannot be read: " + e.getMessage() + ".");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new KqueueShim(null, "Interrupted while gcc was running.");
        }
    }

    /** The layout that the selector will expect: see KqueueLayout. */
    private static String flavor() {
        return "-D" + System.getProperty("millrace.kqueue.flavor", "libkqueue").toUpperCase(Locale.ROOT);
    }

    /** Tests run in the directory of their module or in that of the repository. */
    private static String source() {
        Path directory = Path.of("").toAbsolutePath();
        while (directory != null && !Files.exists(directory.resolve(SOURCE))) {
            directory = directory.getParent();
        }
        return directory == null ? SOURCE : directory.resolve(SOURCE).toString();
    }
}
