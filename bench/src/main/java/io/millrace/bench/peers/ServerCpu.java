package io.millrace.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The processor time of a process and of its children in seconds; NaN where the system does not tell.
 *
 * <p>Linux tells it in clock ticks, 100 a second; elsewhere only the sum of the process itself is known.
 */
public record ServerCpu(double user, double system, double total) {
    private static final double TICKS = 100;
    private static final ServerCpu NONE = new ServerCpu(0, 0, 0);
    private static final ServerCpu UNKNOWN = new ServerCpu(Double.NaN, Double.NaN, Double.NaN);

    public static ServerCpu of(long pid) {
        if (pid == 0) {
            return UNKNOWN;
        }
        try {
            return ofFamily(Path.of("/proc", Long.toString(pid)));
        } catch (IOException e) {
            Optional<Duration> sum =
                    ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration());
            return sum.map(d -> new ServerCpu(Double.NaN, Double.NaN, d.toNanos() / 1e9))
                    .orElse(UNKNOWN);
        }
    }

    /** The process itself, the children that have ended, and those that live: some servers have one for each connection. */
    private static ServerCpu ofFamily(Path process) throws IOException {
        String stat = Files.readString(process.resolve("stat"));
        // The name of the program, in brackets, may hold blanks and brackets; utime, stime, cutime and cstime are the
        // 12th to 15th behind it.
        String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        double user = (Long.parseLong(words[11]) + Long.parseLong(words[13])) / TICKS;
        double system = (Long.parseLong(words[12]) + Long.parseLong(words[14])) / TICKS;
        ServerCpu sum = new ServerCpu(user, system, user + system);
        for (String child : children(process)) {
            sum = sum.plus(ofChild(process.resolveSibling(child)));
        }
        return sum;
    }

    private static List<String> children(Path process) {
        try {
            String children = Files.readString(process.resolve(Path.of("task", name(process), "children")));
            return children.isBlank() ? List.of() : List.of(children.strip().split(" ", -1));
        } catch (IOException e) {
            return List.of(); // this kernel does not tell
        }
    }

    private static String name(Path process) {
        return String.valueOf(process.getFileName());
    }

    private static ServerCpu ofChild(Path process) {
        try {
            return ofFamily(process);
        } catch (IOException e) {
            return NONE; // it has ended meanwhile
        }
    }

    private ServerCpu plus(ServerCpu other) {
        return new ServerCpu(user + other.user, system + other.system, total + other.total);
    }

    public ServerCpu minus(ServerCpu before) {
        return new ServerCpu(user - before.user, system - before.system, total - before.total);
    }
}
