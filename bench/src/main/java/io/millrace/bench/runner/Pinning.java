package io.millrace.bench.runner;

import java.util.ArrayList;
import java.util.List;

/** Servers on the first cores, the load on the last, so that neither takes the other's time. Without taskset(1) or a second core: wherever the kernel likes. */
final class Pinning {
    private static final int CORES = Runtime.getRuntime().availableProcessors();
    private static final boolean POSSIBLE = CORES > 1 && Tools.find("taskset").isPresent();

    private Pinning() {}

    /** A server that has so many loops. */
    static List<String> server(int loops, List<String> command) {
        return pinned("0" + (loops > 1 ? "-" + (Math.min(loops, CORES) - 1) : ""), command);
    }

    static List<String> load(List<String> command) {
        return pinned(Integer.toString(CORES - 1), command);
    }

    private static List<String> pinned(String cores, List<String> command) {
        List<String> all = new ArrayList<>();
        if (POSSIBLE) {
            all.addAll(List.of("taskset", "-c", cores));
        }
        all.addAll(command);
        return all;
    }

    static String text() {
        return POSSIBLE
                ? "servers on core 0, load on core " + (CORES - 1)
                : "not pinned: " + (CORES > 1 ? "there is no taskset" : "there is one core");
    }
}
