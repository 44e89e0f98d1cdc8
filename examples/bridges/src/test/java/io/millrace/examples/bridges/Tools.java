package io.millrace.examples.bridges;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Assumptions;

/** Programs of others that tests need. */
final class Tools {
    private Tools() {}

    /** Skips visibly where the program is missing; fails there if the environment says that programs are installed. */
    static void require(String program, String debianPackage) {
        for (String folder : System.getenv("PATH").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return;
            }
        }
        String reason = program + " is not installed; sudo apt-get install -y " + debianPackage;
        assertThat(Objects.requireNonNullElse(System.getenv("MILLRACE_REQUIRE_TOOLS"), ""))
                .as(reason)
                .isIn("", "0");
        System.out.println("SKIPPED: " + reason);
        Assumptions.abort(reason);
    }
}
