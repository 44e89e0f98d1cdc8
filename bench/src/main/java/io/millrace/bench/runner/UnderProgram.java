package io.millrace.bench.runner;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * A server that a program loads, which prints its figures as JSON.
 *
 * @param session for its processes
 * @param program how the server was started
 * @param server it
 * @param load the program and its arguments, but for the port, the server's process and the time
 * @param seconds how long a window is
 */
record UnderProgram(Session session, ServerProgram program, Server server, List<String> load, int seconds)
        implements Candidate {
    @Override
    public String name() {
        return program.name();
    }

    @Override
    public String command() {
        return program.shown(session.settings().home());
    }

    @Override
    public boolean compiles() {
        return program.compiles();
    }

    @Override
    public String warmUp() throws IOException, InterruptedException {
        return WarmUp.until(10, () -> run(1).getOrDefault("cpuMicros", 0.0));
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        return run(seconds);
    }

    private Map<String, Double> run(int forSeconds) throws IOException, InterruptedException {
        List<String> target = List.of(
                "--port",
                Integer.toString(server.port()),
                "--pid",
                Long.toString(server.pid()),
                "--seconds",
                Integer.toString(forSeconds));
        List<String> command = Pinning.load(ServerProgram.joined(load, target));
        return Load.figures(session.children().run("the load", session.log("load"), command));
    }
}
