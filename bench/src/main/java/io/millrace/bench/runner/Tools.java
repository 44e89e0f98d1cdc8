package io.millrace.bench.runner;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Programs of this machine. */
final class Tools {
    private Tools() {}

    /** On the PATH, or where Debian puts servers, which only the administrator has on it. */
    static Optional<Path> find(String name) {
        for (String folder : (System.getenv().getOrDefault("PATH", "") + ":/usr/sbin").split(":", -1)) {
            Path file = Path.of(folder.isEmpty() ? "." : folder, name);
            if (Files.isExecutable(file) && !Files.isDirectory(file)) {
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }

    /** Of the JDK that runs this. */
    static String jdk(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    /** A command line as it goes into the record: without the paths of this machine. */
    static String shown(Path home, List<String> command) {
        return String.join(" ", command)
                .replace(home + "/", "")
                .replace(Path.of(System.getProperty("java.home"), "bin") + "/", "");
    }
}
