package io.millrace.conformance;

import io.millrace.sys.Backends;
import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Found by the service loader: {@link ChaosSelector} over epoll. */
public final class ChaosProvider implements SelectorProvider {
    static final String NAME = "chaos";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public @Nullable Refusal refusal() {
        return epoll().refusal();
    }

    @Override
    public String remark() {
        return "for tests only: disturbs on purpose";
    }

    @Override
    public Selector open() throws IOException {
        return new ChaosSelector(epoll().open(), ChaosSeed.next());
    }

    private static SelectorProvider epoll() {
        for (SelectorProvider provider : Backends.all()) {
            if (provider.name().equals("epoll")) {
                return provider;
            }
        }
        throw new IllegalStateException("there is no backend epoll to disturb");
    }
}
