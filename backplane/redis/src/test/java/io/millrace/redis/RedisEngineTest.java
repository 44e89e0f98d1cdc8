package io.millrace.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.EngineState;
import io.millrace.backplane.Gap;
import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.Position;
import io.millrace.backplane.Rooms;
import io.millrace.backplane.Subscription;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.CuttableProxy;
import io.millrace.testkit.DeliveryHistory;
import io.millrace.testkit.DeliveryHistory.Recorder;
import io.millrace.testkit.RedisProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is Redis's own: the contract is in {@link RedisBackplaneTest}. */
@DisplayName("engine redis:")
class RedisEngineTest {
    private static RedisProcess server;

    @BeforeAll
    static void startServer() throws Exception {
        server = new RedisProcess();
    }

    @AfterAll
    static void endServer() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void empty() throws Exception {
        server.command("FLUSHALL");
    }

    private static Reactors reactors() {
        return Reactors.builder().reactors(1).name("redis-test").open();
    }

    private static Position ack(Backplane backplane, String topic, String text) throws Exception {
        return backplane.topic(topic).publish(text).get(10, TimeUnit.SECONDS);
    }

    private static Set<String> threads() {
        Set<String> names = new TreeSet<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
        names.removeIf(name -> name.startsWith("redis-test"));
        return names;
    }

    @Test
    @DisplayName("bp-2: redis: runs on the threads of the reactors, and needs no other")
    void onOurThreads() throws Exception {
        try (Reactors reactors = reactors()) {
            Set<String> before = threads();
            try (Backplane backplane = Backplane.open(server.url(), reactors)) {
                ack(backplane, "room", "x");
                Set<String> after = threads();
                after.removeAll(before);
                assertThat(after).noneMatch(name -> name.contains("lettuce") || name.contains("nio"));
            }
        }
    }

    @Test
    @DisplayName(
            "bp-3, bp-5: of nodes that are killed, everything that they were acknowledged is delivered once and in order, and their members leave within the timeout")
    void killedNodes() throws Exception {
        DeliveryHistory history = new DeliveryHistory();
        Duration silence = Duration.ofMillis(800);
        try (Reactors reactors = reactors();
                Backplane here = Backplane.builder(server.url(), reactors)
                        .timeout(silence)
                        .open()) {
            Recorder recorder = history.recorder("survivor");
            recorder.started(here.topic("room").subscribe(recorder));
            for (String name : List.of("first", "second")) {
                Process node = startNode(name, silence);
                try (BufferedReader out = node.inputReader(StandardCharsets.UTF_8)) {
                    for (int acknowledged = 0; acknowledged < 500; ) {
                        String line = out.readLine();
                        assertThat(line).as("what %s prints", name).isNotNull();
                        acknowledged += line.startsWith("acknowledged") ? 1 : 0;
                        record(history, line);
                    }
                    Await.until(
                            name + " is known",
                            () -> !here.topic("room").members().isEmpty());
                    node.toHandle().destroyForcibly(); // which leaves its output to be read
                    out.lines().forEach(line -> record(history, line));
                } finally {
                    node.destroyForcibly();
                }
                long since = System.nanoTime();
                Await.until(
                        name + " has left", () -> here.topic("room").members().isEmpty());
                assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(silence.multipliedBy(3));
            }
            history.publish(here.topic("room"), "end", 0).get(10, TimeUnit.SECONDS);
            Await.until("the end has come", () -> recorder.has("end/0"));
        }
        assertThat(history.problems()).isEmpty();
    }

    /** What was sent and not acknowledged by its killed node may have been stored. A line may be cut off. */
    private static void record(DeliveryHistory history, String line) {
        String[] words = line.split(" ", -1);
        if (words[0].equals("sent") && words.length == 2) {
            history.published(words[1], DeliveryHistory.Outcome.UNKNOWN, null);
        } else if (words[0].equals("acknowledged") && words.length == 3 && words[2].matches("[0-9]+:[0-9]+")) {
            history.published(words[1], DeliveryHistory.Outcome.ACKNOWLEDGED, Position.parse(words[2]));
        }
    }

    private static Process startNode(String name, Duration silence) throws IOException {
        String path = Stream.of(System.getProperty("jdk.module.path"), System.getProperty("java.class.path"))
                .filter(part -> part != null && !part.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
        Path tests = Path.of(NodeMain.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath());
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        tests + File.pathSeparator + path,
                        NodeMain.class.getName(),
                        server.url(),
                        name,
                        Long.toString(silence.toMillis()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    @DisplayName("bp-5: a node that closes leaves nothing behind that only it has used")
    void nothingIsLeft() {
        try (Reactors reactors = reactors()) {
            Backplane backplane = Backplane.open(server.url(), reactors);
            String mailbox = "millrace:{$node." + backplane.node() + "}";
            Rooms rooms = Rooms.on(
                    backplane,
                    () -> {
                        throw new AssertionError("nobody joins");
                    },
                    (room, message) -> null);
            Await.until("it has a mailbox", () -> exists(mailbox));
            rooms.close();
            backplane.close();
            Await.until("it has none", () -> !exists(mailbox));
            assertThat(exists("millrace:{$nodes}")).isTrue();
        }
    }

    private static boolean exists(String stream) {
        try {
            server.command("XINFO", "STREAM", stream);
            return true;
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("no such key");
            return false;
        }
    }

    @Test
    @DisplayName(
            "bp-2: a topic that is deleted, or a database that is flushed, is a new epoch, told before the next message")
    void deleted() throws Exception {
        DeliveryHistory history = new DeliveryHistory();
        try (Reactors reactors = reactors();
                Backplane one = Backplane.open(server.url(), reactors);
                Backplane two = Backplane.open(server.url(), reactors)) {
            Recorder recorder = history.recorder("subscriber");
            recorder.started(two.topic("room").subscribe(recorder));
            for (String[] loss : new String[][] {{"DEL", "millrace:{room}"}, {"FLUSHALL"}}) {
                int from = recorder.count();
                int gaps = recorder.gaps().size();
                for (int i = from; i < from + 3; i++) {
                    history.publish(one.topic("room"), "p", i).get(10, TimeUnit.SECONDS);
                }
                Await.until("they have come", () -> recorder.count() == from + 3);
                server.command(loss);
                history.publish(one.topic("room"), "p", from + 3).get(10, TimeUnit.SECONDS);
                history.publish(two.topic("room"), "q", from).get(10, TimeUnit.SECONDS);
                Await.until("both have come", () -> recorder.count() == from + 5);
                assertThat(recorder.gaps()).hasSize(gaps + 1);
                assertThat(recorder.gaps().getLast().reason()).isEqualTo(Gap.Reason.NEW_EPOCH);
            }
        }
        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName("bp-2: a server that refuses a write has the publication fail with its reason, and is not away")
    void refused() throws Exception {
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.open(server.url(), reactors)) {
            server.command("SET", "millrace:{room}", "no stream");
            assertThat(backplane.topic("room").publish("x"))
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableOfType(ExecutionException.class)
                    .havingCause()
                    .isInstanceOf(NotPublishedException.class)
                    .withMessageContaining("WRONGTYPE");
            assertThat(backplane.state()).isEqualTo(EngineState.CONNECTED);
            ack(backplane, "another", "x");
        }
    }

    @Test
    @DisplayName("bp-2, bp-3: what others write into a topic's stream is passed over, and is no gap")
    void foreignRecords() throws Exception {
        DeliveryHistory history = new DeliveryHistory();
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.open(server.url(), reactors)) {
            Recorder recorder = history.recorder("subscriber");
            recorder.started(backplane.topic("room").subscribe(recorder));
            history.publish(backplane.topic("room"), "p", 0).get(10, TimeUnit.SECONDS);
            Position first = ack(backplane, "other", "x");
            assertThat(first.offset()).isEqualTo(1);
            Await.until("it has come", () -> recorder.count() == 1);
            Position here = recorderPosition(backplane);
            server.command("XADD", "millrace:{room}", here.epoch() + "-*", "r", "rubbish");
            server.command("XADD", "millrace:{room}", here.epoch() + "-*", "another", "field");
            history.publish(backplane.topic("room"), "p", 1).get(10, TimeUnit.SECONDS);
            Await.until("it has come", () -> recorder.count() == 2);
            assertThat(recorder.gaps()).isEmpty();
        }
    }

    @Test
    @DisplayName(
            "bp-2, bp-3: what others add under an id that no position has ends the epoch, and keeps nobody from reading on")
    void foreignIds() throws Exception {
        DeliveryHistory history = new DeliveryHistory();
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.open(server.url(), reactors)) {
            Recorder there = history.recorder("there");
            there.started(backplane.topic("room").subscribe(there));
            history.publish(backplane.topic("room"), "p", 0).get(10, TimeUnit.SECONDS);
            server.command("XADD", "millrace:{room}", "*", "name", "somebody");
            history.publish(backplane.topic("room"), "p", 1).get(10, TimeUnit.SECONDS);
            Await.until("it has come", () -> there.has("p/1"));

            Recorder late = history.recorder("late");
            backplane.topic("room").subscribeFromLast(10, late);
            Await.until("it has read on", () -> late.has("p/1"));
            try (Reactors others = reactors();
                    Backplane another = Backplane.open(server.url(), others)) {
                Recorder returning = history.recorder("returning");
                another.topic("room").subscribeAfter(Position.parse("1:1"), returning);
                Await.until("it has read on", () -> returning.has("p/1"));
            }
            assertThat(there.gaps())
                    .singleElement()
                    .satisfies(gap -> assertThat(gap.reason()).isEqualTo(Gap.Reason.NEW_EPOCH));
        }
        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName(
            "bp-3: what others have written behind a message whose acknowledgement was lost does not keep it from completing")
    void foreignRecordBehindALostAcknowledgement() throws Exception {
        DeliveryHistory history = new DeliveryHistory();
        try (CuttableProxy proxy = new CuttableProxy(server.port());
                Reactors reactors = reactors();
                Backplane backplane = Backplane.open("redis://127.0.0.1:" + proxy.port(), reactors)) {
            Recorder recorder = history.recorder("subscriber");
            recorder.started(backplane.topic("room").subscribe(recorder));
            history.publish(backplane.topic("room"), "p", 0).get(10, TimeUnit.SECONDS);
            Await.until("it has come", () -> recorder.count() == 1);
            String epoch = recorderPosition(backplane).epoch();
            proxy.mute(true);
            CompletableFuture<DeliveryHistory.Outcome> lost = history.publish(backplane.topic("room"), "p", 1);
            Await.until("it is stored", () -> length("millrace:{room}") == 2);
            server.command("XADD", "millrace:{room}", epoch + "-*", "r", "rubbish");
            proxy.cut();
            proxy.mute(false);
            assertThat(lost.get(10, TimeUnit.SECONDS)).isEqualTo(DeliveryHistory.Outcome.ACKNOWLEDGED);
            Await.until("it has come", () -> recorder.has("p/1"));
        }
        assertThat(history.problems()).isEmpty();
    }

    /** This asks by INFO, too, and counts the calls before itself. */
    private static long calls(String command) {
        try {
            return server.calls(command);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long length(String stream) {
        try {
            return server.number("XLEN", stream);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("bp-4: while Redis reads its data from the disk after a restart, it is away, and messages wait")
    void loading() throws Exception {
        try (RedisProcess slow = new RedisProcess("--key-load-delay", "400");
                Reactors reactors = reactors();
                Backplane backplane = Backplane.builder(slow.url(), reactors)
                        .maxPending(20_000, 1 << 20)
                        .open()) {
            List<CompletableFuture<Position>> all = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                all.add(backplane.topic("room").publish("x"));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
            slow.kill();
            Await.until("it is away", () -> backplane.state() == EngineState.AWAY);
            CompletableFuture<Position> waiting = backplane.topic("room").publish("y");
            slow.start();
            assertThat(waiting.get(30, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    @DisplayName("bp-4: a server that has become a replica is away, and messages wait until it is a primary again")
    void replica() throws Exception {
        try (RedisProcess demoted = new RedisProcess();
                Reactors reactors = reactors();
                Backplane backplane = Backplane.open(demoted.url(), reactors)) {
            ack(backplane, "room", "x");
            demoted.command("CONFIG", "RESETSTAT");
            demoted.command("REPLICAOF", "127.0.0.1", "1");
            CompletableFuture<Position> waiting = backplane.topic("room").publish("y");
            Await.until("it has tried to connect again", () -> {
                try {
                    return demoted.calls("hello") > 4; // two connections each time
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(backplane.state()).isEqualTo(EngineState.AWAY);
            assertThat(waiting).isNotDone();
            demoted.command("REPLICAOF", "NO", "ONE");
            assertThat(waiting.get(10, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    @DisplayName(
            "bp-3: a user who may not end connections is told when the backplane connects, and not when it has lost one")
    void mayNotKill() throws Exception {
        // Otherwise with just the rights that the documentation says are needed.
        server.command(
                ("ACL SETUSER anna on >secret ~* &millrace:* +info +eval +client|id +ping +del +exists +get +set +time"
                                + " +xadd +xinfo +xsetid +xrange +xrevrange +publish +subscribe +unsubscribe")
                        .split(" "));
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.open("redis://anna:secret@127.0.0.1:" + server.port(), reactors)) {
            Await.until("it cannot be used", () -> backplane.state() != EngineState.CONNECTING);
            assertThat(backplane.state()).isEqualTo(EngineState.AWAY);
            server.command("ACL", "SETUSER", "anna", "+client|kill");
            Position position = ack(backplane, "room", "x");
            AtomicInteger got = new AtomicInteger();
            backplane.topic("room").subscribeFromLast(1, message -> got.incrementAndGet());
            Await.until("it has come", () -> got.get() == 1);
            backplane.topic("room").subscribeAfter(position, message -> got.incrementAndGet());
            ack(backplane, "room", "y");
            Await.until("it has come twice", () -> got.get() == 3);
        } finally {
            server.command("ACL", "DELUSER", "anna");
        }
    }

    @Test
    @DisplayName("bp-4: a server that falls silent while it is greeted is tried again")
    void silentGreeting() throws Exception {
        ManualClock clock = new ManualClock();
        try (CuttableProxy proxy = new CuttableProxy(server.port());
                Reactors reactors = Reactors.builder()
                        .reactors(1)
                        .name("redis-test")
                        .clock(clock)
                        .open()) {
            proxy.muteAbove(400); // it says hello, and not who it is
            server.command("CONFIG", "RESETSTAT");
            try (Backplane backplane = Backplane.open("redis://127.0.0.1:" + proxy.port(), reactors)) {
                Await.until("it was asked who it is", () -> calls("client|id") > 0);
                proxy.mute(false);
                CompletableFuture<Position> waiting = backplane.topic("room").publish("x");
                clock.advance(Duration.ofSeconds(11));
                Await.until("it has connected again", () -> {
                    clock.advance(Duration.ofMillis(1)); // for the pause before the next attempt
                    LockSupport.parkNanos(1_000_000);
                    return waiting.isDone();
                });
                assertThat(waiting).isCompleted();
            }
        }
    }

    @Test
    @DisplayName("bp-5: a node that has said that it ends tells nothing after that")
    void noWordAfterTheLast() throws Exception {
        try (Reactors reactors = reactors();
                Reactors others = reactors();
                Backplane ending = Backplane.builder(server.url(), reactors)
                        .timeout(Duration.ofMinutes(5))
                        .open();
                Backplane there = Backplane.builder(server.url(), others)
                        .timeout(Duration.ofMinutes(5))
                        .open()) {
            there.topic("room").enter("anna");
            Await.until(
                    "they know each other",
                    () -> there.nodes().size() == 2 && ending.nodes().size() == 2);
            server.command("CLIENT", "PAUSE", "300", "ALL");
            CompletableFuture<Position> holds = ending.topic("room").publish("x");
            Background<?> close = Background.run(ending::close);
            Await.until(
                    "it takes nothing more",
                    () -> ending.topic("room")
                            .publish("y")
                            .handle((position, failure) ->
                                    failure != null && failure.getMessage().contains("is closed"))
                            .getNow(false));
            ending.topic("room").enter("ghost");
            close.result();
            assertThat(holds.get(10, TimeUnit.SECONDS)).isNotNull();
            Await.until("it has left", () -> there.nodes().size() == 1);
            ack(there, "room", "later");
            there.topic("another").enter("ben").close();
            assertThat(there.nodes()).containsExactly(there.node());
            assertThat(there.topic("room").members()).hasSize(1);
        }
    }

    @Test
    @DisplayName(
            "bp-5: what a node that was killed has left, with nobody there to notice, is removed by the next one that begins")
    void nobodyWasThere() throws Exception {
        try (Reactors reactors = reactors()) {
            Reactors dying = reactors();
            Backplane killed = Backplane.open(server.url(), dying);
            Rooms.on(
                    killed,
                    () -> {
                        throw new AssertionError("nobody joins");
                    },
                    (room, message) -> null);
            String mailbox = "millrace:{$node." + killed.node() + "}";
            Await.until("it has a mailbox", () -> exists(mailbox));
            Await.until("it was heard of", () -> length("millrace:{$nodes}") > 0);
            dying.close(); // no word of farewell
            try (Backplane next = Backplane.builder(server.url(), reactors)
                    .timeout(Duration.ofMillis(200))
                    .open()) {
                Await.until("the mailbox is gone", () -> !exists(mailbox));
                assertThat(next.nodes()).containsExactly(next.node());
            }
        }
    }

    @Test
    @DisplayName(
            "bp-4: subscribers that are behind on long messages do not fill the heap: pages are as short as messages are long")
    void longMessages() throws Exception {
        int length = 64 << 10;
        int count = 200;
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.open(server.url(), reactors)) {
            ByteBuffer longOne = ByteBuffer.allocate(length);
            for (int i = 0; i < count; i++) {
                backplane.topic("room").publish(longOne.clear()).get(10, TimeUnit.SECONDS);
            }
            server.command("CONFIG", "RESETSTAT");
            AtomicInteger got = new AtomicInteger();
            backplane.topic("room").subscribeAfter(Position.parse("1:1"), message -> got.incrementAndGet());
            Await.until("all have come", () -> got.get() == count);
            // At most 16 at first, and then those of a megabyte.
            assertThat(server.calls("xrange")).isGreaterThan(count * length / (1 << 20) - 2);
        }
    }

    @Test
    @DisplayName("bp-1: redis: a message takes the server the same, however many topics its subscribers follow besides")
    void quietTopics() throws Exception {
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.builder(server.url(), reactors)
                        .timeout(Duration.ofMinutes(2)) // so that few heartbeats are counted
                        .open()) {
            AtomicInteger heard = new AtomicInteger();
            Subscription talk = backplane.topic("talk").subscribe(message -> heard.incrementAndGet());
            Await.until("it follows", () -> talk.position() != null);
            long alone = bytesToServer(backplane, heard);
            List<Subscription> quiet = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                quiet.add(backplane.topic("quiet-" + i).subscribe(message -> {}));
            }
            Await.until("it follows all", () -> quiet.stream().allMatch(one -> one.position() != null));
            bytesToServer(backplane, heard); // among them the last commands that following takes
            assertThat(bytesToServer(backplane, heard)).isLessThan(2 * alone);
        }
    }

    /** What the server is sent while fifty messages are published and heard, one after the other. */
    private static long bytesToServer(Backplane backplane, AtomicInteger heard) throws Exception {
        long before = received();
        for (int i = 0; i < 50; i++) {
            int count = heard.get() + 1;
            ack(backplane, "talk", "x");
            Await.until("it has come", () -> heard.get() == count);
        }
        return received() - before;
    }

    private static long received() throws IOException {
        URI uri = URI.create(server.url());
        try (Socket socket = new Socket(uri.getHost(), uri.getPort());
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
            socket.getOutputStream().write("INFO stats\r\n".getBytes(StandardCharsets.US_ASCII));
            String line = in.readLine();
            while (!line.startsWith("total_net_input_bytes:")) {
                line = in.readLine();
            }
            return Long.parseLong(line.substring(line.indexOf(':') + 1));
        }
    }

    @Test
    @DisplayName(
            "bp-3: redis: what is published in the very moment in which a subscriber begins to follow is delivered, though nothing follows it")
    void whileItBegins() throws Exception {
        int topics = 300;
        try (Reactors reactors = reactors();
                Backplane backplane = Backplane.open(server.url(), reactors)) {
            List<CompletableFuture<Position>> first = new ArrayList<>();
            for (int i = 0; i < topics; i++) {
                first.add(backplane.topic("topic-" + i).publish("first")); // so that the second is one command
            }
            for (CompletableFuture<Position> each : first) {
                each.get(30, TimeUnit.SECONDS);
            }
            AtomicInteger heard = new AtomicInteger();
            for (int i = 0; i < topics; i++) {
                Topic topic = backplane.topic("topic-" + i);
                Subscription subscription = topic.subscribe(message -> heard.incrementAndGet());
                while (subscription.position() == null) {
                    Thread.onSpinWait();
                }
                var ignored = topic.publish("second");
            }
            Await.until("all have come", () -> heard.get() == topics);
        }
    }

    @Test
    @DisplayName(
            "bp-2: redis: databases of one server have nothing in common, not even where their topics are at the same position")
    void databases() throws Exception {
        try (Reactors reactors = reactors();
                Backplane here = Backplane.open(server.url() + "/0", reactors)) {
            List<String> heard = new CopyOnWriteArrayList<>();
            Subscription subscription = here.topic("room")
                    .subscribe(message -> heard.add(
                            StandardCharsets.UTF_8.decode(message.data()).toString()));
            Await.until("it follows", () -> subscription.position() != null);
            Position before = ack(here, "room", "first");
            Await.until("it has come", () -> heard.size() == 1);
            server.command("COPY", "millrace:{room}", "millrace:{room}", "DB", "1");
            server.command("COPY", "millrace:{room}:run", "millrace:{room}:run", "DB", "1");
            try (Backplane there = Backplane.open(server.url() + "/1", reactors)) {
                assertThat(ack(there, "room", "of the other database"))
                        .isEqualTo(new Position(before.epoch(), before.offset() + 1));
            }
            ack(here, "room", "second");
            Await.until("it has come", () -> heard.contains("second"));
            assertThat(heard).containsExactly("first", "second");
        }
    }

    private static Position recorderPosition(Backplane backplane) {
        Subscription last = backplane.topic("room").subscribeFromLast(1, message -> {});
        Await.until("it has begun", () -> last.position() != null);
        Position position = last.position();
        last.close();
        assertThat(position).isNotNull();
        return position;
    }
}
