package io.millrace.console;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;

/** Programs that some tests need. */
final class Tools {
    private Tools() {}

    /** Returns the path of a program; or skips the test, or fails it where tools are required. */
    static Path require(String name) {
        for (String folder : System.getenv("PATH").split(File.pathSeparator, -1)) {
            Path program = Path.of(folder, name);
            if (Files.isExecutable(program)) {
                return program;
            }
        }
        String missing = "there is no " + name + " here, so this is not tested";
        if (System.getenv("MILLRACE_REQUIRE_TOOLS") != null) {
            throw new AssertionError(missing + "; MILLRACE_REQUIRE_TOOLS is set");
        }
        return abort(missing);
    }
}
