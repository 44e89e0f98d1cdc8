package io.millrace.bench.runner;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a member of a chat room takes of the heap of its own node, and of that of another one, which knows its name: heaps after full
 * collections, with so many members less without, divided by their number.
 *
 * @param session for its processes
 * @param peers has the load
 * @param program the nodes
 * @param engine between them
 * @param members how many
 */
record MemberWeight(Session session, Native peers, ServerProgram program, Server engine, int members)
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
    public Map<String, Double> measure() throws IOException, InterruptedException {
        try (ChatNodes chat = ChatNodes.start(session, peers, program, engine, 2, true, Map.of())) {
            if (chat.nodes().isEmpty()) {
                throw new IOException("the nodes do not start");
            }
            Server own = chat.nodes().getFirst();
            Server other = chat.nodes().getLast();
            hold(own, members).close(); // what is made for the first ones, and stays, is not each one's
            session.settle(own);
            session.settle(other);
            double ownBefore = IdleWeight.heap(session, own);
            double otherBefore = IdleWeight.heap(session, other);
            try (Server holder = hold(own, members)) {
                session.settle(holder);
                Map<String, Double> figures = new LinkedHashMap<>();
                figures.put("memberBytes", (IdleWeight.heap(session, own) - ownBefore) / members);
                figures.put("strangerBytes", (IdleWeight.heap(session, other) - otherBefore) / members);
                figures.put("held", (double) members);
                return figures;
            }
        }
    }

    private Server hold(Server node, int count) throws IOException, InterruptedException {
        List<String> command = List.of(
                peers.path("load_chat").toString(),
                "--hold",
                "1",
                "--ports",
                Integer.toString(node.port()),
                "--members",
                Integer.toString(count));
        return Server.start(session.children(), Pinning.load(command), Map.of(), session.log("members"));
    }
}
