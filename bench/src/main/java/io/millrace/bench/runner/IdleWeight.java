package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What idle connections weigh in a server: its heap after full collections and its resident memory, with them less without, divided by their number. A fresh server in every round.
 * The stacks of virtual threads that wait are objects of the heap, and told apart too.
 *
 * @param how to start it
 * @param idle how many connections
 * @param session where
 * @param holder who holds the connections
 * @param own how much of the heap is the buffer of the server's own code for each connection
 */
record IdleWeight(ServerProgram how, int idle, Session session, Holder holder, double own) implements Candidate {
    /** How to start a process that holds connections and says so: {@code listening on ...}. */
    interface Holder {
        List<String> command(int port, int count);
    }

    /** {@link IdleConnections}, which needs no compiler. */
    static Holder plainHolder(Session session) {
        return (port, count) -> ServerProgram.joined(
                ServerProgram.java(session.settings().home()),
                List.of(IdleConnections.class.getName(), Integer.toString(port), Integer.toString(count)));
    }

    /** {@code load} or {@code load_tls}. */
    static Holder nativeHolder(Native peers, String program) {
        return (port, count) -> List.of(
                peers.path(program).toString(),
                "--mode",
                "hold",
                "--port",
                Integer.toString(port),
                "--connections",
                Integer.toString(count));
    }

    @Override
    public String name() {
        return how.name();
    }

    @Override
    public String command() {
        return how.shown(session.settings().home());
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        Map<String, Double> figures = new LinkedHashMap<>();
        try (Server server = how.start(session)) {
            hold(server, 1).close(); // what is made for the first connection is not each one's
            double heapBefore = heap(server);
            double residentBefore = resident(server);
            double stacksBefore = stacks(server);
            try (Server holder = hold(server, idle)) {
                figures.put("residentBytes", (resident(server) - residentBefore) / idle);
                if (how.compiles()) {
                    double heap = (heap(server) - heapBefore) / idle;
                    double stack = (stacks(server) - stacksBefore) / idle;
                    figures.put("heapBytes", heap);
                    figures.put("stackBytes", stack);
                    figures.put("restBytes", heap - stack - own);
                    figures.put("heapBeforeKiB", heapBefore / 1024);
                }
                figures.put("residentBeforeKiB", residentBefore / 1024);
                figures.put("idle", (double) idle);
            }
        }
        return figures;
    }

    private Server hold(Server server, int count) throws IOException, InterruptedException {
        List<String> command = holder.command(server.port(), count);
        return Server.start(session.children(), Pinning.load(command), Map.of(), session.log("idle connections"));
    }

    private double heap(Server server) throws IOException, InterruptedException {
        return how.compiles() ? heap(session, server) : 0;
    }

    /** In use after full collections. */
    static double heap(Session session, Server server) throws IOException, InterruptedException {
        jcmd(session, server, "GC.run");
        jcmd(session, server, "GC.run");
        return used(jcmd(session, server, "GC.heap_info"));
    }

    /** Bytes in use by the stacks of virtual threads that are not running. */
    private double stacks(Server server) throws IOException, InterruptedException {
        return how.compiles() ? stacks(jcmd(session, server, "GC.class_histogram")) : 0;
    }

    /** The line of the stacks in jcmd GC.class_histogram; 0 if there is none. */
    static double stacks(String histogram) {
        Matcher line = Pattern.compile("(?m)^ *\\d+: +\\d+ +(\\d+) +jdk\\.internal\\.vm\\.StackChunk\\b")
                .matcher(histogram);
        return line.find() ? Double.parseDouble(line.group(1)) : 0;
    }

    private static String jcmd(Session session, Server server, String what) throws IOException, InterruptedException {
        return session.children()
                .run("jcmd", session.log("jcmd"), List.of(Tools.jdk("jcmd"), Long.toString(server.pid()), what));
    }

    private static double resident(Server server) throws IOException {
        return 1024
                * number(
                        Pattern.compile("VmRSS:\\s*(\\d+) kB"),
                        Files.readString(Path.of("/proc/" + server.pid() + "/status")));
    }

    /** Bytes in use by the generations that jcmd GC.heap_info tells. */
    static double used(String heapInfo) throws IOException {
        double kib = 0;
        Matcher generation =
                Pattern.compile("(?m)^.*\\btotal \\d+K, used (\\d+)K").matcher(heapInfo);
        while (generation.find()) {
            kib += Double.parseDouble(generation.group(1));
        }
        if (kib == 0) {
            throw new IOException("jcmd tells no heap: " + heapInfo.strip());
        }
        return kib * 1024;
    }

    private static double number(Pattern pattern, String text) throws IOException {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new IOException("there is no " + pattern + " in " + text.strip());
        }
        return Double.parseDouble(matcher.group(1));
    }
}
