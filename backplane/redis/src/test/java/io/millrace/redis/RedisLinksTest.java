package io.millrace.redis;

import io.millrace.testkit.BackplaneLinks;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;

@DisplayName("backplane over Redis, on bad links")
class RedisLinksTest extends BackplaneLinks {
    @Override
    protected List<String> engine(Path folder) {
        return List.of(
                "redis-server",
                "--port",
                "6400",
                "--bind",
                "0.0.0.0",
                "--protected-mode",
                "no",
                "--dir",
                folder.toString(),
                "--save",
                "",
                "--appendonly",
                "yes");
    }

    @Override
    protected String url(String host) {
        return "redis://" + host + ":6400";
    }
}
