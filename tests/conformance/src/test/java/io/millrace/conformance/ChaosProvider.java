package io.millrace.conformance;

import io.millrace.sys.Selector;

/** Found by the service loader: {@link ChaosSelector} in front of epoll. */
public final class ChaosProvider extends FrontProvider {
    static final String NAME = "chaos";

    /** For the service loader. */
    public ChaosProvider() {
        super(NAME, "epoll");
    }

    @Override
    Selector inFrontOf(Selector epoll) {
        return new ChaosSelector(epoll, ChaosSeed.next());
    }
}
