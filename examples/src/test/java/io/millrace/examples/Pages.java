package io.millrace.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pages of this repository, as files. */
final class Pages {
    /** The repository: tests run in the folder of their module. */
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern FENCE = Pattern.compile("(?ms)^ *```(\\w*)[^\\n]*\\n(.*?)^ *```");
    private static final Set<String> MADE = Set.of("target", "node_modules", ".git");

    /**
     * A piece of a page that is set apart.
     *
     * @param page where it is
     * @param language what it says it is written in, or nothing
     * @param text what is in it
     */
    record Fence(Path page, String language, String text) {}

    private Pages() {}

    /** Every file below the root that fits, apart from what was built. */
    static List<Path> files(Predicate<String> name) {
        List<Path> found = new ArrayList<>();
        collect(ROOT, name, found);
        return found;
    }

    private static void collect(Path folder, Predicate<String> name, List<Path> found) {
        try (Stream<Path> children = Files.list(folder)) {
            for (Path child : children.sorted().toList()) {
                String called = child.getFileName().toString();
                if (Files.isDirectory(child)) {
                    if (!MADE.contains(called)) {
                        collect(child, name, found);
                    }
                } else if (name.test(called)) {
                    found.add(child);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> all() {
        return files(name -> name.endsWith(".md"));
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Fence> fences(Path page) {
        List<Fence> fences = new ArrayList<>();
        for (Matcher fence = FENCE.matcher(read(page)); fence.find(); ) {
            fences.add(new Fence(page, fence.group(1), fence.group(2)));
        }
        return fences;
    }

    /** The page without what is set apart as code: no link is one there, and no heading. */
    static String prose(Path page) {
        return FENCE.matcher(read(page)).replaceAll("");
    }
}
