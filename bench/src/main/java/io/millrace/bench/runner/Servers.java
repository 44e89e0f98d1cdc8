package io.millrace.bench.runner;

import io.millrace.bench.runner.EchoContestant.Window;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The servers of a contest, started once; those that cannot be are told absent. */
final class Servers implements AutoCloseable {
    private record Running(EchoServer how, Server server) {}

    private final Session session;
    private final List<Running> running = new ArrayList<>();

    Servers(Session session) {
        this.session = session;
    }

    void start(List<EchoServer> servers) throws InterruptedException {
        for (EchoServer how : servers) {
            session.progress().show("starting " + how.name());
            if (how.missing() != null) {
                session.absent(new Absent(how.name(), how.missing()));
                continue;
            }
            try {
                Server server = Server.start(
                        session.children(),
                        Pinning.server(how.loops(), how.command()),
                        how.environment(),
                        session.log(how.name()));
                running.add(new Running(how, server));
            } catch (IOException e) {
                session.absent(new Absent(how.name(), "it does not start: " + e.getMessage()));
            }
        }
    }

    List<Contestant> contestants(Load load, Workload work, Window window) {
        return contestants(load, work, window, "");
    }

    /** With something behind their names. */
    List<Contestant> contestants(Load load, Workload work, Window window, String behind) {
        List<Contestant> contestants = new ArrayList<>();
        for (Running each : running) {
            String shown = each.how.shown(session.settings().home());
            contestants.add(new EchoContestant(
                    each.how.name() + behind, shown, each.how.compiles(), each.server, load, work, window));
        }
        return contestants;
    }

    @Override
    public void close() throws InterruptedException {
        for (Running each : running) {
            each.server.close();
        }
    }
}
