package io.millrace.nats;

import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineProvider;
import io.millrace.backplane.spi.EngineSettings;
import java.util.Set;

/** Opens {@code nats://} and {@code tls://}, with what jnats understands in them. For the service loader. */
public final class NatsProvider implements EngineProvider {
    /** For the service loader. */
    public NatsProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("nats", "tls");
    }

    @Override
    public Engine open(EngineSettings settings) {
        return new NatsEngine(settings);
    }
}
