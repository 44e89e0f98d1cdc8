package io.millrace.conformance;

import io.millrace.backplane.memory.MemoryProvider;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineProvider;
import io.millrace.backplane.spi.EngineSettings;
import io.millrace.testkit.FaultyEngine;
import java.util.Locale;
import java.util.Set;

/** Opens {@code faulty:BUG}: {@code memory:} with a bug. For the service loader. */
public final class FaultyProvider implements EngineProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("faulty");
    }

    @Override
    public Engine open(EngineSettings settings) {
        String bug = settings.url().substring("faulty:".length()).toUpperCase(Locale.ROOT);
        EngineSettings inMemory = new EngineSettings(
                "memory:" + bug,
                settings.manager(),
                settings.node(),
                settings.namespace(),
                settings.history(),
                settings.listener());
        return new FaultyEngine(new MemoryProvider().open(inMemory), FaultyEngine.Bug.valueOf(bug));
    }
}
