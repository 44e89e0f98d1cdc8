package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Where and with what a run was made. */
final class Machine {
    private Machine() {}

    static Map<String, Object> facts(Path home) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("cpu", field(Path.of("/proc/cpuinfo"), "model name"));
        facts.put("processors", Runtime.getRuntime().availableProcessors());
        facts.put("memory", field(Path.of("/proc/meminfo"), "MemTotal"));
        facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("architecture", System.getProperty("os.arch"));
        facts.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
        facts.put("loadAverageBefore", loadAverage());
        facts.put("network", network());
        facts.put("commit", says(home, "git", "describe", "--always", "--dirty"));
        facts.put("gcc", says(home, "gcc", "--version"));
        facts.put("redis", says(home, "redis-server", "--version"));
        facts.put(
                "haproxy",
                Tools.find("haproxy")
                        .map(tool -> says(home, tool.toString(), "-v"))
                        .orElse("absent"));
        facts.put("libraries", libraries(home));
        return facts;
    }

    static String loadAverage() {
        try {
            return Files.readString(Path.of("/proc/loadavg")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** bench/isolated says what it did. */
    static String network() {
        return System.getenv().getOrDefault("MILLRACE_BENCH_NETWORK", "not isolated: started without bench/isolated");
    }

    private static String field(Path file, String name) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** The first line of what a program says; "absent" if there is no such program. */
    private static String says(Path home, String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(home.toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return said.lines().findFirst().orElse("unknown");
        } catch (IOException e) {
            return "absent";
        }
    }

    private static List<String> libraries(Path home) {
        try (Stream<Path> jars = Files.list(home.resolve("bench/target/lib"))) {
            return jars.map(jar -> jar.getFileName().toString())
                    .filter(name -> name.endsWith(".jar") && !name.startsWith("millrace"))
                    .map(name -> name.substring(0, name.length() - ".jar".length()))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
