import com.palantir.javaformat.java.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks or applies the project's format: {@code Format (--check | --apply) directory}.
 *
 * <p>Started by the build and by {@code tools/format} with palantir-java-format on the class path. It exists because
 * the formatter wants file names and neither Maven nor every shell can list the sources.
 */
final class Format {
    private Format() {}

    public static void main(String[] args) throws Exception {
        boolean apply = args[0].equals("--apply");
        List<String> command = new ArrayList<>(List.of("--palantir", "--skip-reflowing-long-strings"));
        command.addAll(apply ? List.of("--replace") : List.of("--dry-run", "--set-exit-if-changed"));
        command.addAll(sources(Path.of(args[1])));
        PrintWriter out = new PrintWriter(System.out, true);
        PrintWriter err = new PrintWriter(System.err, true);
        // Prints the names of the files that a check finds unformatted, and an error for what it cannot parse.
        int status = new Main(out, err, System.in).format(command.toArray(String[]::new));
        if (status != 0 && !apply) {
            err.println("The files above are not formatted. Run tools/format, then build again.");
        }
        System.exit(status);
    }

    /** Modules are folders of the repository, or of one that has several under its roof. */
    private static List<String> sources(Path root) throws IOException {
        try (Stream<Path> folders = Files.find(root, 3, Format::holdsSources)) {
            List<String> sources = new ArrayList<>();
            for (Path folder : folders.sorted().toList()) {
                try (Stream<Path> files = Files.walk(folder)) {
                    files.filter(file -> file.toString().endsWith(".java"))
                            .sorted()
                            .map(Path::toString)
                            .forEach(sources::add);
                }
            }
            return sources;
        }
    }

    private static boolean holdsSources(Path folder, BasicFileAttributes attributes) {
        return attributes.isDirectory()
                && (folder.endsWith("tools")
                        || (folder.endsWith("src") && Files.exists(folder.resolveSibling("pom.xml"))));
    }
}
