package io.millrace.backplane.memory;

import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineProvider;
import io.millrace.backplane.spi.EngineSettings;
import java.util.Set;

/** Opens {@code memory:}, for one node of its own, and {@code memory:NAME}. Public for the service loader. */
public final class MemoryProvider implements EngineProvider {
    /** For the service loader. */
    public MemoryProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public Engine open(EngineSettings settings) {
        String rest = settings.url().substring("memory:".length());
        if (rest.startsWith("/")) {
            throw new IllegalArgumentException("memory: has no host; write memory: or memory:NAME");
        }
        return new MemoryEngine(MemoryStore.named(rest), settings);
    }
}
