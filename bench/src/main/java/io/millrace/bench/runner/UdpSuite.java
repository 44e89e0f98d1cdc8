package io.millrace.bench.runner;

import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * Echo of datagrams: {@code ./millrace serve echo --udp} beside a server in C with recvmmsg and sendmmsg. Each server has
 * one thread, on the first core; the load is on the last.
 */
final class UdpSuite implements Suite {
    private static final String C = "C, recvmmsg";
    private static final String MILLRACE = "Millrace";

    private static final List<Column> DATAGRAMS = List.of(
            Column.compared("cpuMicros", "CPU µs/msg", 2),
            Column.compared("messagesPerSecond", "msgs/s", 0),
            Column.shown("userMicros", "user µs/msg", 2),
            Column.shown("lost", "lost", 0));

    @Override
    public void run(Session session) throws IOException, InterruptedException {
        session.print("udp: " + Pinning.text());
        Native peers = Native.build(session);
        if (peers.missing("load_udp") != null || peers.missing("echo_udp") != null) {
            session.absent(new Absent("the load of datagrams, so all of udp", peers.missing("load_udp")));
            return;
        }
        boolean quick = session.settings().quick();
        ServerProgram inC = ServerProgram.compiled(peers, C, "echo_udp", 1, List.of());
        ServerProgram ours = ServerProgram.launched(
                session.settings().home(), MILLRACE, 1, "serve", "echo", "--udp", "--port", "0", "--loops", "1");
        try (Server c = inC.start(session);
                Server millrace = ours.start(session)) {
            for (int depth : List.of(1, 16)) {
                List<String> load = List.of(
                        peers.path("load_udp").toString(),
                        "--connections",
                        "50",
                        "--depth",
                        Integer.toString(depth),
                        "--bytes",
                        "64");
                int seconds = quick ? 2 : 3;
                session.compare(
                        new Comparison(
                                "udp-" + depth,
                                String.format(Locale.ROOT, "echo of 64 B datagrams, 50 peers, %d under way", depth),
                                C,
                                DATAGRAMS,
                                List.of(
                                        new UnderProgram(session, inC, c, load, seconds),
                                        new UnderProgram(session, ours, millrace, load, seconds)),
                                List.of(Target.atMost(1.05, "cpuMicros", MILLRACE, C))),
                        session.settings().rounds(3, 10));
            }
        }
    }
}
