import org.jspecify.annotations.NullMarked;

/**
 * Topics over several processes and machines: {@link io.millrace.backplane.Backplane} and {@link
 * io.millrace.backplane.Rooms}.
 *
 * <p>A handler whose clients are in a room with those of all nodes:
 *
 * {@snippet :
 * public void onConnect(Connection connection) {
 *     rooms.join(connection, "lobby", 10); // the last ten messages, then what follows
 * }
 *
 * @Override
 * public void onData(Connection connection, ByteBuffer line) {
 *     backplane.topic("lobby").publish(line).exceptionally(refusal -> {
 *         connection.send("not sent: " + refusal.getMessage() + "\n");
 *         return null;
 *     });
 * }
 * }
 */
@NullMarked
@SuppressWarnings("module")
module io.millrace.backplane {
    requires transitive io.millrace.engine;
    requires transitive io.millrace.server;
    requires static transitive org.jspecify;

    exports io.millrace.backplane;
    exports io.millrace.backplane.spi;
    exports io.millrace.backplane.memory to
            io.millrace.testkit;

    uses io.millrace.backplane.spi.EngineProvider;

    provides io.millrace.backplane.spi.EngineProvider with
            io.millrace.backplane.memory.MemoryProvider;
}
