package io.millrace.cli;

import io.millrace.engine.VirtualThreadReport;
import io.millrace.poll.BackendReport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reports the limits of this machine that matter for a server, and what to raise. Only reads; what this system does not
 * report is left out.
 */
final class Doctor {
    private static final long FILES_WANTED = 65_536;
    private static final long BACKLOG_WANTED = 1024;
    /** Roughly what a JVM with a few loops has open itself. */
    private static final long FILES_OF_OUR_OWN = 100;

    private static final Pattern OPEN_FILES =
            Pattern.compile("(?m)^Max open files\\s+(\\d+|unlimited)\\s+(\\d+|unlimited)");

    private Doctor() {}

    static String report() {
        return report(Path.of("/proc"));
    }

    static String report(Path proc) {
        List<String> lines = new ArrayList<>();
        lines.add(BackendReport.probe().toString());
        lines.add(VirtualThreadReport.probe().toString());
        lines.add("java " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors()
                + " cores, heap up to " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB");
        openFiles(read(proc.resolve("self/limits")), lines);
        backlog("somaxconn", read(proc.resolve("sys/net/core/somaxconn")), "net.core.somaxconn", lines);
        backlog(
                "syn backlog",
                read(proc.resolve("sys/net/ipv4/tcp_max_syn_backlog")),
                "net.ipv4.tcp_max_syn_backlog",
                lines);
        return String.join("\n", lines);
    }

    private static void openFiles(String limits, List<String> lines) {
        Matcher matcher = OPEN_FILES.matcher(limits);
        if (!matcher.find()) {
            return;
        }
        long soft = number(matcher.group(1));
        String line = "open files: " + matcher.group(1) + " (at most " + matcher.group(2) + "), enough for about "
                + Math.max(0, soft - FILES_OF_OUR_OWN) + " connections";
        lines.add(
                soft >= FILES_WANTED
                        ? line
                        : line + ". For more: ulimit -n " + (16 * FILES_WANTED)
                                + ", or LimitNOFILE= in its systemd unit");
    }

    private static void backlog(String what, String value, String key, List<String> lines) {
        if (value.isEmpty()) {
            return;
        }
        long present = number(value);
        String line = what + ": " + present;
        lines.add(
                present >= BACKLOG_WANTED
                        ? line + ", enough for the backlog of " + BACKLOG_WANTED
                        : line + ", less than the backlog of " + BACKLOG_WANTED
                                + ", so connections that come at once may be" + " dropped: sysctl -w " + key + "=4096");
    }

    private static long number(String text) {
        return text.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(text);
    }

    /**
     * Returns the content of a file; empty if there is no such file, or it cannot be read. Reads once, because a second
     * read of a number under /proc/sys returns nothing.
     */
    private static String read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(8192), StandardCharsets.US_ASCII).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
