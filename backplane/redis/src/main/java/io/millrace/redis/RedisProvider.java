package io.millrace.redis;

import io.lettuce.core.RedisURI;
import io.millrace.backplane.spi.Engine;
import io.millrace.backplane.spi.EngineProvider;
import io.millrace.backplane.spi.EngineSettings;
import java.util.Set;

/** Opens {@code redis://} and {@code rediss://}, with everything that Lettuce understands in them. For the service loader. */
public final class RedisProvider implements EngineProvider {
    /** For the service loader. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss");
    }

    @Override
    public Engine open(EngineSettings settings) {
        return new RedisEngine(settings, RedisURI.create(settings.url()));
    }
}
