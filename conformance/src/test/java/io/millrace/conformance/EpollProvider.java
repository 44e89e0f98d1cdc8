package io.millrace.conformance;

import io.millrace.sys.Backends;
import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** For backends of the tests that stand in front of epoll. */
abstract class EpollProvider implements SelectorProvider {
    private final String name;

    EpollProvider(String name) {
        this.name = name;
    }

    abstract Selector inFrontOf(Selector epoll);

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final @Nullable Refusal refusal() {
        return epoll().refusal();
    }

    @Override
    public final String remark() {
        return "for tests only";
    }

    @Override
    public final Selector open() throws IOException {
        return inFrontOf(epoll().open());
    }

    private static SelectorProvider epoll() {
        for (SelectorProvider provider : Backends.all()) {
            if (provider.name().equals("epoll")) {
                return provider;
            }
        }
        throw new IllegalStateException("there is no backend epoll to stand in front of");
    }
}
