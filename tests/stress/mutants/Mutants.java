import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Runs the mutants: see {@code run} beside this file, which builds the copy that this program works on.
 *
 * <p>Maven would take half a minute for each. Here the patched module is compiled by a compiler that stays warm, into a folder that precedes
 * everything else on the class path, and the tests run in a JVM that stops at the first failure. So all of them take minutes, not hours.
 * Two limits follow from that: modules above the patched one are not recompiled, so a mutant must not change a constant that another module has
 * copied; and tests run on the class path, also those that the build runs as modules.
 */
final class Mutants {
    private static final Pattern RED = Pattern.compile("# red: (\\S+) (\\S+)(.*)");
    private static final Pattern PATCHED = Pattern.compile("\\+\\+\\+ b/(([\\w/-]+)/src/main/java/\\S+\\.java).*");
    private static final int LIMIT_SECONDS = 600;

    private final Path copy;
    private final Path patches;
    private final Path work;
    private final Path logs;

    private Mutants(Path copy, Path patches, Path work, Path logs) {
        this.copy = copy;
        this.patches = patches;
        this.work = work;
        this.logs = logs;
    }

    /** What one patch says: the mistake, the files that it changes, and the tests that must turn red. */
    private record Mutant(String name, String mistake, Set<String> modules, List<Red> reds) {}

    private record Red(String module, String tests, List<String> options) {}

    /** How tests ended, and the first that failed. */
    private record Run(Outcome outcome, String detail) {}

    private enum Outcome {
        GREEN,
        RED,
        NOT_RUN
    }

    public static void main(String[] arguments) throws Exception {
        Path copy = Path.of(arguments[0]);
        Path patches = Path.of(arguments[1]);
        Path work = Path.of(arguments[2]);
        int jobs = Integer.parseInt(arguments[3]);
        Path logs = Files.createTempDirectory("mutants-logs");
        var names = List.of(arguments).subList(4, arguments.length);
        if (new Mutants(copy, patches, work, logs).run(names, jobs)) {
            Files.createFile(work.resolve("all-killed"));
        }
    }

    private boolean run(List<String> names, int jobs) throws Exception {
        compileTestRun();
        var mutants = new ArrayList<Mutant>();
        for (String name : names) {
            mutants.add(parse(name));
        }
        long begin = System.nanoTime();
        boolean green = unpatched(mutants, jobs);
        var failed = new AtomicInteger();
        ExecutorService workers = Executors.newFixedThreadPool(jobs);
        var results = new ArrayList<Future<?>>();
        var idle = new java.util.concurrent.LinkedBlockingQueue<Path>();
        for (int i = 0; i < jobs; i++) {
            idle.add(Files.createDirectory(work.resolve("worker" + i)));
        }
        for (Mutant mutant : mutants) {
            results.add(workers.submit((Callable<Void>) () -> {
                Path folder = idle.take();
                try {
                    if (!judge(mutant, folder)) {
                        failed.incrementAndGet();
                    }
                } finally {
                    idle.add(folder);
                }
                return null;
            }));
        }
        for (Future<?> result : results) {
            result.get();
        }
        workers.shutdown();
        System.out.printf(
                "%d mutants: %d killed, %d not; %d s%n",
                mutants.size(),
                mutants.size() - failed.get(),
                failed.get(),
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
        return green && failed.get() == 0;
    }

    private Mutant parse(String name) throws IOException {
        Path patch = patches.resolve(name + ".patch");
        if (!Files.exists(patch)) {
            return new Mutant(name, "no such patch", Set.of(), List.of());
        }
        String mistake = "";
        var modules = new TreeSet<String>();
        var reds = new ArrayList<Red>();
        for (String line : Files.readAllLines(patch)) {
            Matcher red = RED.matcher(line);
            Matcher patched = PATCHED.matcher(line);
            if (red.matches()) {
                String options = red.group(3).strip();
                reds.add(new Red(
                        red.group(1), red.group(2), options.isEmpty() ? List.of() : Arrays.asList(options.split("\\s+"))));
            } else if (patched.matches()) {
                modules.add(patched.group(2));
            } else if (line.startsWith("# ") && mistake.isEmpty()) {
                mistake = line.substring(2);
            }
        }
        return new Mutant(name, mistake, modules, reds);
    }

    /** Red means something only if the same tests are green without a patch. */
    private boolean unpatched(List<Mutant> mutants, int jobs) throws Exception {
        var wanted = new LinkedHashSet<Red>();
        var together = new TreeMap<String, Set<String>>();
        for (Mutant mutant : mutants) {
            for (Red red : mutant.reds) {
                if (red.options.isEmpty()) {
                    together.computeIfAbsent(red.module, _ -> new TreeSet<>()).addAll(Arrays.asList(red.tests.split(",")));
                } else {
                    wanted.add(red);
                }
            }
        }
        together.forEach((module, tests) -> wanted.add(
                new Red(module, String.join(module.equals("tests/stress") ? "|" : ",", tests), List.of())));
        ExecutorService workers = Executors.newFixedThreadPool(jobs);
        var green = new ArrayList<Future<Boolean>>();
        int number = 0;
        for (Red red : wanted) {
            Path log = logs.resolve("none-" + number++ + ".log");
            green.add(workers.submit(() -> {
                long begin = System.nanoTime();
                Run run = test(red, List.of(), log);
                boolean good = run.outcome == Outcome.GREEN;
                print("(none)", good ? "green" : "NOT GREEN", begin, red.module + (good ? "" : ": " + run.detail + "; see " + log));
                return good;
            }));
        }
        boolean all = true;
        for (Future<Boolean> one : green) {
            all &= one.get();
        }
        workers.shutdown();
        return all;
    }

    private boolean judge(Mutant mutant, Path folder) throws Exception {
        long begin = System.nanoTime();
        Path log = logs.resolve(mutant.name + ".log");
        String result = "killed";
        String detail = "";
        if (mutant.reds.isEmpty()) {
            result = mutant.modules.isEmpty() ? "NO PATCH" : "NO TEST";
        } else {
            clear(folder);
            var overlays = new ArrayList<Path>();
            result = mutant.modules.isEmpty() ? "NO MATCH" : apply(mutant, folder, overlays, log);
            for (Red red : result.equals("killed") ? mutant.reds : List.<Red>of()) {
                Run run = test(red, overlays, log);
                detail = run.detail;
                if (run.outcome != Outcome.RED) {
                    result = run.outcome == Outcome.GREEN ? "SURVIVED" : "NOT RUN";
                    break;
                }
            }
        }
        boolean killed = result.equals("killed");
        print(mutant.name, result, begin, mutant.mistake + (killed ? " [" + detail + "]" : "; see " + log));
        if (killed) {
            Files.deleteIfExists(log);
        }
        return killed;
    }

    /** Compiles each patched module into a folder of its own; says "killed" if the tests can be run. */
    private String apply(Mutant mutant, Path folder, List<Path> overlays, Path log) throws Exception {
        for (String module : mutant.modules) {
            copyTree(copy.resolve(module + "/src/main/java"), folder.resolve(module + "/src/main/java"));
        }
        var patching = new ProcessBuilder("patch", "-p1", "--no-backup-if-mismatch", "-d", folder.toString())
                .redirectInput(patches.resolve(mutant.name + ".patch").toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (patching.waitFor() != 0) {
            return "NO MATCH";
        }
        for (String module : mutant.modules) {
            Path classes = Files.createDirectories(folder.resolve(module + "/classes"));
            try (Stream<Path> sources = Files.walk(folder.resolve(module + "/src/main/java"))) {
                List<String> files = sources.map(Path::toString)
                        .filter(file -> file.endsWith(".java"))
                        .toList();
                String problems = compile(files, "--module-path", below(module), classes);
                if (!problems.isEmpty()) {
                    Files.writeString(log, problems);
                    return "NO BUILD";
                }
            }
            overlays.add(classes);
        }
        return "killed";
    }

    private static String compile(List<String> files, String kind, String path, Path target) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var messages = new StringWriter();
        try (var manager = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
            var options = List.of("-d", target.toString(), kind, path, "-proc:none", "-nowarn", "-g");
            boolean good = compiler.getTask(
                            messages, manager, null, options, null, manager.getJavaFileObjectsFromStrings(files))
                    .call();
            return good ? "" : messages.append("\ncannot compile").toString();
        }
    }

    private Run test(Red red, List<Path> overlays, Path log) throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        boolean jcstress = red.module.equals("tests/stress");
        if (!jcstress) {
            command.addAll(Arrays.asList(property(red.module, "test.jvm").split(" ")));
        }
        command.add("-ea");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("--illegal-native-access=deny");
        command.add("--add-opens=java.base/java.lang=ALL-UNNAMED"); // virtual threads on loops
        command.addAll(red.options);
        command.add("-cp");
        command.add(classPath(red.module, overlays));
        if (jcstress) {
            Path results = Files.createTempDirectory(work, "jcstress");
            command.addAll(List.of("org.openjdk.jcstress.Main", "-m", "quick", "-t", red.tests, "-r", results.toString()));
            command.addAll(List.of("-jvmArgsPrepend", "--enable-native-access=ALL-UNNAMED"));
        } else {
            command.addAll(List.of(
                    "TestRun",
                    copy.resolve(red.module + "/target/quick/test-classes").toString(),
                    property(red.module, "test.timeout"),
                    red.tests));
        }
        Process process = new ProcessBuilder(command)
                .directory((jcstress ? Files.createTempDirectory(work, "jcstress") : copy.resolve(red.module)).toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        if (!process.waitFor(overlays.isEmpty() ? 3 * LIMIT_SECONDS : LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
            return new Run(Outcome.NOT_RUN, "no end after " + LIMIT_SECONDS + " s");
        }
        if (jcstress) {
            boolean failed = Files.readString(log).contains("FAILED");
            return process.exitValue() == 0
                    ? new Run(Outcome.GREEN, "")
                    : new Run(failed ? Outcome.RED : Outcome.NOT_RUN, red.tests);
        }
        return switch (process.exitValue()) {
            case 0 -> new Run(Outcome.GREEN, "");
            case TEST_FAILED -> new Run(Outcome.RED, firstFailure(log));
            default -> new Run(Outcome.NOT_RUN, "status " + process.exitValue());
        };
    }

    private static final int TEST_FAILED = 17;

    private static String firstFailure(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.startsWith("FAILED "))
                    .map(line -> line.substring(7))
                    .findFirst()
                    .orElse("?");
        }
    }

    /** A property of the module's pom, or of the root's. */
    private String property(String module, String name) throws IOException {
        for (Path pom : List.of(copy.resolve(module + "/pom.xml"), copy.resolve("pom.xml"))) {
            Matcher found = Pattern.compile("<" + Pattern.quote(name) + ">([^<]*)<").matcher(Files.readString(pom));
            if (found.find()) {
                return found.group(1);
            }
        }
        throw new IOException("cannot run the tests of " + module + ": no <" + name + "> in its pom or the root's");
    }

    /** What the module is compiled against. */
    private String below(String module) throws IOException {
        return Files.readString(copy.resolve(module + "/target/quick/test.classpath")).strip();
    }

    private String classPath(String module, List<Path> overlays) throws IOException {
        var path = new ArrayList<String>();
        overlays.forEach(overlay -> path.add(overlay.toString()));
        path.add(copy.resolve(module + "/target/quick/test-classes").toString());
        path.add(copy.resolve(module + "/target/quick/classes").toString());
        path.add(below(module));
        path.add(work.resolve("runner").toString());
        path.add(Files.readString(work.resolve("launcher.classpath")).strip());
        return String.join(File.pathSeparator, path);
    }

    private void compileTestRun() throws IOException {
        Path target = Files.createDirectories(work.resolve("runner"));
        String problems = compile(
                List.of(patches.resolve("TestRun.java").toString()),
                "--class-path",
                Files.readString(work.resolve("launcher.classpath")).strip(),
                target);
        if (!problems.isEmpty()) {
            throw new IOException(problems);
        }
    }

    private static void clear(Path folder) throws IOException {
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
                if (!visited.equals(folder)) {
                    Files.delete(visited);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path one : (Iterable<Path>) all::iterator) {
                Path target = to.resolve(from.relativize(one).toString());
                if (Files.isDirectory(one)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(one, target);
                }
            }
        }
    }

    private static synchronized void print(String name, String result, long begin, String what) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
        System.out.printf("%-36s %-10s %4ds  %s%n", name, result, seconds, what);
    }
}
