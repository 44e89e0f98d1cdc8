package io.millrace.server.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How much may wait on all connections of a server together if nothing was set: a share of what the process has. */
final class BudgetDefaults {
    private static final int MOST_FILES = 1024;
    private static final Pattern OPEN_FILES = Pattern.compile("(?m)^Max open files\\s+(\\d+)");
    private static final int FILES = readFiles();

    private BudgetDefaults() {}

    /** Returns a quarter of the heap. */
    static long bytes() {
        return Math.max(1, Runtime.getRuntime().maxMemory() / 4);
    }

    /** Returns a quarter of the files that the process may have open, at most {@value #MOST_FILES}. */
    static int files() {
        return FILES;
    }

    private static int readFiles() {
        try {
            Matcher matcher = OPEN_FILES.matcher(Files.readString(Path.of("/proc/self/limits")));
            if (matcher.find()) {
                return Math.clamp(Long.parseLong(matcher.group(1)) / 4, 1, MOST_FILES);
            }
        } catch (IOException | RuntimeException e) {
            // Not Linux; the usual limit is at least 256.
        }
        return 64;
    }
}
