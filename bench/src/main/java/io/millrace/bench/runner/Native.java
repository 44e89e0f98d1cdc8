package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What {@code bench/native/build} made of the peers in C and Rust, and why not of others. */
final class Native {
    private static final String ABSENT = "absent ";

    private final Path folder;
    private final Map<String, String> absent;

    private Native(Path folder, Map<String, String> absent) {
        this.folder = folder;
        this.absent = absent;
    }

    /** Compiles what is missing or out of date. What does not compile is absent, and the log says why. */
    static Native build(Session session) throws IOException, InterruptedException {
        session.progress().show("compiling the native peers");
        Path home = session.settings().home();
        Path log = session.log("native-build");
        List<String> command =
                new ArrayList<>(List.of(home.resolve("bench/native/build").toString()));
        if (session.settings().quick()) {
            command.add("c"); // no time for cargo
        }
        Files.createDirectories(log.getParent());
        Process build = session.children().start(new ProcessBuilder(command).redirectError(log.toFile()));
        String said = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        build.waitFor();
        return new Native(
                home.resolve("bench/target/native"), absent(said.replace("see above", "see " + home.relativize(log))));
    }

    /** The reasons in lines like {@code absent NAME: REASON; install: COMMAND}. */
    static Map<String, String> absent(String said) {
        Map<String, String> absent = new HashMap<>();
        said.lines().filter(line -> line.startsWith(ABSENT)).forEach(line -> {
            int colon = line.indexOf(": ");
            absent.put(line.substring(ABSENT.length(), colon), line.substring(colon + 2));
        });
        return absent;
    }

    /** Where it is, if it is. */
    Path path(String program) {
        return folder.resolve(program);
    }

    /** Why a program is not there; null if it is. */
    @Nullable
    String missing(String program) {
        return absent.containsKey(program) || !Files.isExecutable(path(program))
                ? absent.getOrDefault(program, "bench/native/build did not make it")
                : null;
    }
}
