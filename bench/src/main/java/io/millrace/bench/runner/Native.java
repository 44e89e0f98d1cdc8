package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /** Compiles what is missing or out of date. */
    static Native build(Session session) throws IOException, InterruptedException {
        session.progress().show("compiling the native peers");
        Path home = session.settings().home();
        Path script = home.resolve("bench/native/build");
        String said = "";
        if (Files.isExecutable(script)) {
            said = session.children().run("bench/native/build", session.log("native"), List.of(script.toString()));
        }
        return new Native(home.resolve("bench/target/native"), absent(said));
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
