import org.jspecify.annotations.NullMarked;

/** A backplane over NATS JetStream. Nothing in it is called by users: its URL is {@code nats://…}. */
@NullMarked
@SuppressWarnings({"module", "requires-automatic"}) // jnats has no module-info
module io.millrace.nats {
    requires io.millrace.backplane;
    requires io.millrace.engine;
    requires io.nats.jnats;
    requires static org.jspecify;

    provides io.millrace.backplane.spi.EngineProvider with
            io.millrace.nats.NatsProvider;
}
