package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.backplane.Gap;
import io.millrace.backplane.Position;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What becomes of messages when the link between a node and the engine goes down without a word, and when it is slow. The
 * engine and each node are processes in network namespaces of their own, with a pair of virtual interfaces between them.
 * That needs root, iproute2 and Linux; elsewhere this is skipped, and says so.
 */
public abstract class BackplaneLinks {
    private static final int NODES = 2;
    private static final String RATE = "256kbit";

    private final String prefix = "millrace-" + ProcessHandle.current().pid() + "-";
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** For the suites. */
    protected BackplaneLinks() {}

    /**
     * Returns how to start the engine.
     *
     * @param folder for its files
     * @return a command, which listens on all addresses
     */
    protected abstract List<String> engine(Path folder);

    /**
     * Returns where a node finds the engine.
     *
     * @param host its address
     * @return the URL
     */
    protected abstract String url(String host);

    @AfterEach
    final void closeAll() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
        open.clear();
    }

    // ---- Namespaces ----

    private static String run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        int status = process.onExit().join().exitValue();
        if (status != 0) {
            throw new IOException(String.join(" ", command) + ": " + (out.isEmpty() ? "status " + status : out));
        }
        return out;
    }

    private void namespace(String name) {
        try {
            run("ip", "netns", "add", prefix + name);
            open.push(() -> run("ip", "netns", "del", prefix + name));
            run("ip", "-n", prefix + name, "link", "set", "lo", "up");
        } catch (IOException e) {
            String reason =
                    "this machine allows no network namespaces, which need root and iproute2: " + e.getMessage();
            System.out.println("SKIPPED: " + reason);
            Assumptions.abort(reason);
        }
    }

    private void link(int node) throws IOException {
        String there = prefix + "node" + node;
        String engine = prefix + "engine";
        run(
                "ip",
                "link",
                "add",
                "name",
                "up" + node,
                "netns",
                there,
                "type",
                "veth",
                "peer",
                "name",
                "down" + node,
                "netns",
                engine);
        run("ip", "-n", there, "addr", "add", "10.77." + node + ".1/24", "dev", "up" + node);
        run("ip", "-n", engine, "addr", "add", "10.77." + node + ".2/24", "dev", "down" + node);
        set(node, true, "up");
        set(node, false, "up");
    }

    /** Either end of a link: without its own, a node has no route; without the other's, what it sends is lost. */
    private void set(int node, boolean atNode, String state) throws IOException {
        run(
                "ip",
                "-n",
                prefix + (atNode ? "node" + node : "engine"),
                "link",
                "set",
                (atNode ? "up" : "down") + node,
                state);
    }

    /** Returns whether this kernel can. */
    private boolean slow(int node) {
        try {
            limit("engine", "down" + node);
            limit("node" + node, "up" + node);
            return true;
        } catch (IOException e) {
            System.out.println("SKIPPED: slow links, which need tc(8) and a kernel with tbf: " + e.getMessage());
            return false;
        }
    }

    private void limit(String namespace, String device) throws IOException {
        String shape = "rate " + RATE + " burst 16kb latency 400ms";
        List<String> command = new ArrayList<>(List.of("tc", "-n", prefix + namespace, "qdisc", "add", "dev", device));
        command.addAll(List.of("root", "tbf"));
        command.addAll(List.of(shape.split(" ", -1)));
        run(command.toArray(String[]::new));
    }

    private void fast(int node) throws IOException {
        run("tc", "-n", prefix + "engine", "qdisc", "del", "dev", "down" + node, "root");
        run("tc", "-n", prefix + "node" + node, "qdisc", "del", "dev", "up" + node, "root");
    }

    private Process start(String namespace, List<String> command, ProcessBuilder.Redirect out) throws IOException {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", prefix + namespace));
        all.addAll(command);
        Process process = new ProcessBuilder(all)
                .redirectOutput(out)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        open.push(() -> process.destroyForcibly()
                .onExit()
                .orTimeout(10, TimeUnit.SECONDS)
                .join());
        return process;
    }

    /** Longer than elsewhere: a silent link is noticed after some seconds, and connecting has pauses of its own. */
    private static void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(60)) {
                throw new AssertionError("not within a minute: " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    // ---- Nodes ----

    /** A node, and what it prints. */
    private final class Node {
        private final DeliveryHistory history;
        private final DeliveryHistory.Recorder recorder;
        private final Process process;
        private final BufferedWriter in;
        private final AtomicInteger acknowledged = new AtomicInteger();
        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch stopped = new CountDownLatch(1);
        private volatile boolean away;

        Node(DeliveryHistory history, int number) throws IOException {
            this.history = history;
            this.recorder = history.recorder("node " + number);
            String path = Stream.of(System.getProperty("jdk.module.path"), System.getProperty("java.class.path"))
                    .filter(part -> part != null && !part.isEmpty())
                    .collect(Collectors.joining(File.pathSeparator));
            this.process = start(
                    "node" + number,
                    List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-Xmx128m",
                            "-cp",
                            path,
                            BackplaneNode.class.getName(),
                            url("10.77." + number + ".2"),
                            "p" + number,
                            "2000"),
                    ProcessBuilder.Redirect.PIPE);
            this.in = process.outputWriter(StandardCharsets.UTF_8);
            Thread.ofVirtual()
                    .start(() ->
                            process.inputReader(StandardCharsets.UTF_8).lines().forEach(this::take));
        }

        private void take(String line) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "state" -> away = words[1].equals("AWAY");
                case "started" -> {
                    recorder.startedAt(Position.parse(words[1]));
                    started.countDown();
                }
                case "sent" -> history.published(words[1], DeliveryHistory.Outcome.PENDING, null);
                case "ACKNOWLEDGED" -> {
                    history.published(words[1], DeliveryHistory.Outcome.ACKNOWLEDGED, Position.parse(words[2]));
                    acknowledged.incrementAndGet();
                }
                case "REFUSED", "UNKNOWN" ->
                    history.published(words[1], DeliveryHistory.Outcome.valueOf(words[0]), null);
                case "got" -> recorder.onMessage(words[1], Position.parse(words[2]));
                case "gap" -> recorder.onGap(new Gap(Position.parse(words[1]), Position.parse(words[2])));
                case "stopped" -> stopped.countDown();
                default -> System.out.println(line);
            }
        }

        void tell(String line) throws IOException {
            in.write(line + "\n");
            in.flush();
        }

        void awaitMore(int count) {
            int from = acknowledged.get();
            until("a node publishes", () -> acknowledged.get() >= from + count);
        }
    }

    /** What happens to a link. */
    private enum Fault {
        /** It is down for a moment, which TCP bridges over. */
        BLINKS,
        /** It is down until the node has noticed. */
        DOWN,
        SLOW
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES) // as many faults as one likes
    @DisplayName(
            "bp-3: on links that go down without a word, and on slow ones, nothing that was acknowledged is lost, repeated or out of order without being told")
    void links() throws Exception {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        int faults = Integer.getInteger("millrace.links", Boolean.getBoolean("millrace.soak") ? 30 : 3);
        Random random = new Random(seed);
        Path folder = Files.createTempDirectory("millrace-links");
        open.addLast(() -> delete(folder)); // when the engine has ended
        ServerProcess.require(engine(folder).getFirst());
        namespace("engine");
        for (int i = 0; i < NODES; i++) {
            namespace("node" + i);
            link(i);
        }
        start(
                "engine",
                engine(folder),
                ProcessBuilder.Redirect.to(folder.resolve("log").toFile()));
        DeliveryHistory history = new DeliveryHistory();
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(new Node(history, i));
        }
        for (Node node : nodes) {
            assertThat(node.started.await(60, TimeUnit.SECONDS)).isTrue();
        }
        for (int i = 0; i < faults; i++) {
            nodes.forEach(node -> node.awaitMore(random.nextInt(200)));
            int hit = random.nextInt(NODES);
            Node cut = nodes.get(hit);
            Node other = nodes.get((hit + 1) % NODES);
            boolean atNode = random.nextBoolean();
            switch (i < Fault.values().length
                    ? Fault.values()[i]
                    : Fault.values()[random.nextInt(Fault.values().length)]) {
                case BLINKS -> {
                    set(hit, atNode, "down");
                    other.awaitMore(1 + random.nextInt(200));
                    set(hit, atNode, "up");
                }
                case DOWN -> {
                    set(hit, atNode, "down");
                    until("the node has noticed", () -> cut.away);
                    other.awaitMore(1 + random.nextInt(200));
                    set(hit, atNode, "up");
                }
                case SLOW -> {
                    if (slow(hit)) {
                        cut.awaitMore(1 + random.nextInt(100));
                        fast(hit);
                    }
                }
            }
            until("the node is back", () -> !cut.away);
            cut.awaitMore(1);
        }
        for (Node node : nodes) {
            node.tell("stop");
        }
        for (Node node : nodes) {
            assertThat(node.stopped.await(60, TimeUnit.SECONDS)).isTrue();
        }
        nodes.getFirst().tell("end end");
        until("the last has come", () -> nodes.stream().allMatch(node -> node.recorder.has("end/0")));

        System.out.printf(
                "links: %d faults, -Dmillrace.seed=%d, %s, %d gaps%n",
                faults,
                seed,
                history,
                nodes.stream().mapToInt(node -> node.recorder.gaps().size()).sum());
        assertThat(history.problems())
                .as("%d faults, -Dmillrace.seed=%d, %s", faults, seed, history)
                .isEmpty();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(one);
            }
        }
    }
}
