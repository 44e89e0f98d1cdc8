package io.millrace.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/**
 * Programs of others that tests need. One that is not installed has its tests skipped, and the output says so and how to install it; where the variable
 * {@code MILLRACE_REQUIRE_TOOLS} is set, as by {@code .ci/run}, which installs them, it has them fail.
 */
public final class Tools {
    private Tools() {}

    public static void require(String program, String debianPackage) {
        if (isInstalled(program)) {
            return;
        }
        String reason = program + " is not installed; sudo apt-get install -y " + debianPackage;
        if (areRequired()) {
            throw new AssertionError(reason + ". MILLRACE_REQUIRE_TOOLS is set, so its tests must not be skipped.");
        }
        System.out.println("SKIPPED: " + reason);
        Assumptions.abort(reason);
    }

    public static boolean areRequired() {
        String value = System.getenv("MILLRACE_REQUIRE_TOOLS");
        return value != null && !value.isEmpty() && !value.equals("0");
    }

    private static boolean isInstalled(String program) {
        for (String directory : System.getenv("PATH").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(directory, program))) {
                return true;
            }
        }
        return false;
    }
}
