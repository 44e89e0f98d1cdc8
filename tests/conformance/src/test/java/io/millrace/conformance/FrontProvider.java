package io.millrace.conformance;

import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider;
import io.millrace.sys.selector.Backends;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** For backends of the tests that stand in front of another one. */
abstract class FrontProvider implements SelectorProvider {
    private final String name;
    private final String behind;

    /** Of this name, in front of the backend of that. */
    FrontProvider(String name, String behind) {
        this.name = name;
        this.behind = behind;
    }

    abstract Selector inFrontOf(Selector real);

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final @Nullable Refusal refusal() {
        return real().refusal();
    }

    @Override
    public final String remark() {
        return "for tests only";
    }

    @Override
    public final Selector open() throws IOException {
        return inFrontOf(real().open());
    }

    private SelectorProvider real() {
        for (SelectorProvider provider : Backends.all()) {
            if (provider.name().equals(behind)) {
                return provider;
            }
        }
        throw new IllegalStateException("there is no backend " + behind + " to stand in front of");
    }
}
