package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** The program openssl. If it is not installed, tests that need it are skipped, and say so; with {@code MILLRACE_REQUIRE_TOOLS} they fail. */
final class OpenSsl {
    private OpenSsl() {}

    static void require() {
        for (String directory : System.getenv("PATH").split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(directory, "openssl"))) {
                return;
            }
        }
        String required = System.getenv("MILLRACE_REQUIRE_TOOLS");
        String reason = "openssl is not installed; sudo apt-get install -y openssl";
        if (required != null && !required.isEmpty() && !required.equals("0")) {
            throw new AssertionError(reason + ". MILLRACE_REQUIRE_TOOLS is set, so its tests must not be skipped.");
        }
        System.out.println("SKIPPED: " + reason);
        Assumptions.abort(reason);
    }

    static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** Runs a command without input, and returns what it says. */
    static String run(String... arguments) throws IOException, InterruptedException {
        Process process = start(arguments);
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(said).isTrue();
        return said;
    }
}
