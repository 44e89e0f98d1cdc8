package io.millrace.backplane;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("rooms over several nodes")
class RoomsTest {
    private final String url = "memory:" + UUID.randomUUID();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : open) {
            one.close();
        }
    }

    /** A server whose clients send {@code join ROOM}, {@code last ROOM N}, {@code after ROOM POSITION}, {@code leave ROOM}, {@code where} or {@code say ROOM TEXT}. */
    private final class Node implements ConnectionHandler {
        final Backplane backplane;
        final TcpServer server;
        final Rooms rooms;

        Node() throws IOException {
            Reactors reactors = Reactors.builder().reactors(2).open();
            open.push(reactors);
            backplane = Backplane.builder(url, reactors).history(50).open();
            open.push(backplane);
            CompletableFuture<TcpServer> started = new CompletableFuture<>();
            rooms = Rooms.on(backplane, () -> started.join().context(), new Lines());
            open.push(rooms);
            server = TcpServer.builder()
                    .manager(reactors)
                    .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .waterMarks(16 << 10, 32 << 10, 64 << 10)
                    .start(Framing.lines(1024).frames(this));
            open.push(server);
            started.complete(server);
        }

        @Override
        public void onData(Connection connection, ByteBuffer line) {
            String[] words = UTF_8.decode(line).toString().split(" ", 3);
            switch (words[0]) {
                case "join" -> rooms.join(connection, words[1]);
                case "last" -> rooms.join(connection, words[1], Integer.parseInt(words[2]));
                case "after" -> rooms.join(connection, words[1], Position.parse(words[2]));
                case "leave" -> rooms.leave(connection, words[1]);
                case "where" -> connection.send(rooms.address(connection) + "\n");
                default -> backplane.topic(words[1]).publish(words[2]);
            }
        }

        @Override
        public void onDisconnect(Connection connection) {
            rooms.leaveAll(connection);
        }

        int topics() {
            return backplane.metrics().topics();
        }
    }

    private static final class Lines implements RoomFormat {
        @Override
        public ByteBuffer message(String room, Message message) {
            return UTF_8.encode(room + "> " + UTF_8.decode(message.data()) + "\n");
        }

        @Override
        public ByteBuffer gap(String room, Gap gap) {
            return UTF_8.encode(room + "> missed " + gap.count() + "\n");
        }
    }

    private final class Client {
        final Socket socket;
        final BufferedReader in;

        Client(Node node) throws IOException {
            socket = new Socket(
                    InetAddress.getLoopbackAddress(), node.server.address().getPort());
            socket.setSoTimeout(10_000);
            open.push(socket);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        }

        void says(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(UTF_8));
        }

        void hears(String... lines) throws IOException {
            List<String> heard = new ArrayList<>();
            for (String ignored : lines) {
                heard.add(in.readLine());
            }
            assertThat(heard).containsExactly(lines);
        }

        String asks(String line) throws IOException {
            says(line);
            return in.readLine();
        }
    }

    private static Position publish(Node node, String room, String text) throws Exception {
        return node.backplane.topic(room).publish(text).get(10, TimeUnit.SECONDS);
    }

    /** Has some topics besides those of the backplane itself: nodes and mailbox. */
    private static void awaitTopics(Node node, int count) {
        await().until(() -> node.topics() == 2 + count);
    }

    @Test
    @DisplayName("bp-1: a message to a room reaches the connections that have joined it, on every node, in one order")
    void everyNode() throws Exception {
        Node one = new Node();
        Node two = new Node();
        Client anna = new Client(one);
        Client ben = new Client(one);
        Client carl = new Client(two);
        for (Client client : List.of(anna, ben, carl)) {
            client.says("last tea 0");
        }
        awaitTopics(one, 1);
        awaitTopics(two, 1);
        await().until(() ->
                one.backplane.metrics().behind() == 0 && two.backplane.metrics().behind() == 0);
        // Who hears of the first message is in the room; whoever is not yet, hears of it from the history.
        Client dora = new Client(two);
        dora.says("last tea 10");
        anna.says("say tea hello");
        dora.hears("tea> hello");
        carl.says("say tea hi");
        for (Client client : List.of(anna, ben, carl)) {
            client.hears("tea> hello", "tea> hi");
        }
        dora.hears("tea> hi");
    }

    @Test
    @DisplayName(
            "bp-1, bp-3: a connection that joins with the last messages, or with its position, gets what it missed and then what follows; or that it cannot")
    void history() throws Exception {
        Node one = new Node();
        Node two = new Node();
        Position first = publish(one, "tea", "1");
        publish(one, "tea", "2");
        publish(one, "tea", "3");
        Client late = new Client(two);
        late.says("last tea 2");
        late.hears("tea> 2", "tea> 3");
        Client returning = new Client(two);
        returning.says("after tea " + first);
        returning.hears("tea> 2", "tea> 3");
        publish(one, "tea", "4");
        late.hears("tea> 4");
        returning.hears("tea> 4");

        for (int i = 0; i < 100; i++) {
            publish(one, "tea", "more " + i);
        }
        Client gone = new Client(one);
        gone.says("after tea " + first);
        gone.hears("tea> missed 53", "tea> more 50");
    }

    @Test
    @DisplayName(
            "bp-1: a room costs its node one subscription, however many connections are in it, and none when they have left or are gone")
    void oneSubscription() throws Exception {
        Node one = new Node();
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Client client = new Client(one);
            client.says("join tea");
            client.says("join tea");
            client.says("where");
            assertThat(client.in.readLine()).startsWith(one.backplane.node());
            clients.add(client);
        }
        awaitTopics(one, 1);
        long before = one.backplane.metrics().delivered();
        await().until(() -> one.backplane.metrics().behind() == 0);
        publish(one, "tea", "x");
        for (Client client : clients) {
            client.hears("tea> x");
        }
        assertThat(one.backplane.metrics().delivered()).isEqualTo(before + 1);
        clients.removeFirst().says("leave tea");
        for (Client client : clients) {
            client.socket.close();
        }
        awaitTopics(one, 0);
    }

    @Test
    @DisplayName(
            "bp-1: a connection that does not read is closed and leaves, and the others in the room hear everything")
    void aDeafConnection() throws Exception {
        Node one = new Node();
        Client deaf = new Client(one);
        deaf.says("join tea");
        Client anna = new Client(one);
        anna.says("join tea");
        assertThat(anna.asks("where")).isNotNull();
        await().until(() -> one.server.context().connections().size() == 2);
        await().until(() -> one.topics() == 3 && one.backplane.metrics().behind() == 0);
        String text = "x".repeat(60_000);
        for (int i = 0; one.server.context().connections().size() > 1; i++) {
            assertThat(i).as("messages before the deaf one is closed").isLessThan(10_000);
            publish(one, "tea", text + i);
            anna.hears("tea> " + text + i);
        }
        publish(one, "tea", "still there");
        anna.hears("tea> still there");
    }

    @Test
    @DisplayName("bp-5: send reaches a connection on any node by its address, and says so if there is no such node")
    void sendAnywhere() throws Exception {
        Node one = new Node();
        Node two = new Node();
        await().until(() -> one.backplane.nodes().size() == 2);
        Client anna = new Client(two);
        String address = anna.asks("where");
        await().until(() -> two.backplane.metrics().behind() == 0);

        one.rooms.send(address, "psst\n").get(10, TimeUnit.SECONDS);
        anna.hears("psst");
        two.rooms.send(address, "from here\n").get(10, TimeUnit.SECONDS);
        anna.hears("from here");
        one.rooms.send(two.backplane.node() + ".987654321", "nobody\n").get(10, TimeUnit.SECONDS);
        one.rooms.send(address, "again\n").get(10, TimeUnit.SECONDS);
        anna.hears("again");

        assertThatThrownBy(() -> one.rooms.send("abcd.1", "x").get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        NotPublishedException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(NotPublishedException.Reason.NO_SUCH_NODE));
        assertThatThrownBy(() -> one.rooms.send("nonsense", "x")).isInstanceOf(IllegalArgumentException.class);
    }
}
