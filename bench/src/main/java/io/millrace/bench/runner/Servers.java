package io.millrace.bench.runner;

import io.millrace.bench.runner.ServerUnderLoad.Window;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The servers of a comparison, started once; those that cannot be are told absent. */
final class Servers implements AutoCloseable {
    private record Running(ServerProgram how, Server server) {}

    private final Session session;
    private final List<Running> running = new ArrayList<>();

    Servers(Session session) {
        this.session = session;
    }

    void start(List<ServerProgram> servers) throws InterruptedException {
        for (ServerProgram how : servers) {
            session.progress().show("starting " + how.name());
            if (how.missing() != null) {
                session.absent(new Absent(how.name(), how.missing()));
                continue;
            }
            try {
                running.add(new Running(how, how.start(session)));
            } catch (IOException e) {
                session.absent(new Absent(how.name(), "it does not start: " + e.getMessage()));
            }
        }
    }

    List<Candidate> candidates(Load load, Workload work, Window window) {
        return candidates(load, work, window, "");
    }

    /** With something behind their names. */
    List<Candidate> candidates(Load load, Workload work, Window window, String behind) {
        List<Candidate> candidates = new ArrayList<>();
        for (Running each : running) {
            String shown = each.how.shown(session.settings().home());
            candidates.add(new ServerUnderLoad(
                    each.how.name() + behind, shown, each.how.compiles(), each.server, load, work, window));
        }
        return candidates;
    }

    /** The same, asked for a page by wrk. */
    List<Candidate> askedByWrk(String path, int seconds) {
        List<Candidate> candidates = new ArrayList<>();
        for (Running each : running) {
            candidates.add(new AskedByWrk(session, each.how, each.server, path, seconds));
        }
        return candidates;
    }

    /** The same, loaded by a program. */
    List<Candidate> under(List<String> load, int seconds) {
        List<Candidate> candidates = new ArrayList<>();
        for (Running each : running) {
            candidates.add(new UnderProgram(session, each.how, each.server, load, seconds));
        }
        return candidates;
    }

    @Override
    public void close() throws InterruptedException {
        for (Running each : running) {
            each.server.close();
        }
    }
}
