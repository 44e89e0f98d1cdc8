package io.millrace.sys;

import io.millrace.sys.selector.Backends;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Opens selectors. The built-in providers are in {@link Backends}; others are found by {@link java.util.ServiceLoader}
 * and are used only if they are asked for by name.
 */
public interface SelectorProvider {
    /** Returns the name for {@code -Dmillrace.backend=} and the builder. */
    String name();

    /** Returns why this backend cannot be opened here, or null if it can. Cheap; leaves nothing open. */
    @Nullable
    Refusal refusal();

    /**
     * Returns a line on what a user should know about this choice, for example that its wait is linear; empty if
     * nothing.
     */
    String remark();

    Selector open() throws IOException;

    /**
     * Why a backend was passed over.
     *
     * @param reason what failed and why
     * @param remedy what to do to use it
     */
    record Refusal(String reason, String remedy) {}
}
