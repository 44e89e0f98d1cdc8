package io.millrace.nats;

import io.millrace.testkit.BackplaneLinks;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;

@DisplayName("backplane over NATS, on bad links")
class NatsLinksTest extends BackplaneLinks {
    @Override
    protected List<String> engine(Path folder) {
        return List.of(
                "nats-server",
                "-a",
                "0.0.0.0",
                "-p",
                "4400",
                "-js",
                "-sd",
                folder.resolve("js").toString());
    }

    @Override
    protected String url(String host) {
        return "nats://" + host + ":4400";
    }
}
