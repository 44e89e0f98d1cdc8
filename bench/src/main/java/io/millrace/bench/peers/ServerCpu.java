package io.millrace.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The processor time of a process in seconds; NaN where the system does not tell.
 *
 * <p>Linux tells it in clock ticks, 100 a second; elsewhere only the sum is known.
 */
public record ServerCpu(double user, double system, double total) {
    private static final double TICKS = 100;
    private static final ServerCpu UNKNOWN = new ServerCpu(Double.NaN, Double.NaN, Double.NaN);

    public static ServerCpu of(long pid) {
        if (pid == 0) {
            return UNKNOWN;
        }
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // The name of the program, in brackets, may hold blanks and brackets; utime and stime are the 12th and 13th
            // behind it.
            String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            double user = Long.parseLong(words[11]) / TICKS;
            double system = Long.parseLong(words[12]) / TICKS;
            return new ServerCpu(user, system, user + system);
        } catch (IOException e) {
            Optional<Duration> sum =
                    ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration());
            return sum.map(d -> new ServerCpu(Double.NaN, Double.NaN, d.toNanos() / 1e9))
                    .orElse(UNKNOWN);
        }
    }

    public ServerCpu minus(ServerCpu before) {
        return new ServerCpu(user - before.user, system - before.system, total - before.total);
    }
}
