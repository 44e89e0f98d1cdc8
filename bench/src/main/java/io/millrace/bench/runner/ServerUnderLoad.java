package io.millrace.bench.runner;

import java.io.IOException;
import java.util.Map;

/**
 * A server under a load.
 *
 * @param name in the table
 * @param command how it was started
 * @param compiles whether it must be warm before it is measured
 * @param server it
 * @param load who asks
 * @param work what is asked
 * @param window how long it is watched
 */
record ServerUnderLoad(
        String name, String command, boolean compiles, Server server, Load load, Workload work, Window window)
        implements Candidate {
    /**
     * Times, in seconds.
     *
     * @param warmUps at most so many windows, of {@link Workload#warmUpSeconds}, before the first round
     * @param before of each window that is measured
     * @param measured that window
     */
    record Window(int warmUps, int before, int measured) {
        /** The usual ones. */
        static Window of(boolean quick, int warmUps) {
            return quick ? new Window(warmUps, 0, 2) : new Window(warmUps, 1, 3);
        }
    }

    @Override
    public String warmUp() throws IOException, InterruptedException {
        int seconds = work.warmUpSeconds();
        return WarmUp.until(
                window.warmUps, () -> load.run(server, work, seconds, 0).getOrDefault("cpuMicros", 0.0));
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        if (!server.isAlive()) {
            throw new IOException("the server has died");
        }
        return load.run(server, work, window.measured, window.before);
    }
}
