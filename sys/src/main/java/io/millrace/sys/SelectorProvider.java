package io.millrace.sys;

import io.millrace.sys.selector.Backends;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A way to make selectors. The built-in ones are in {@link Backends}; others are found by {@link java.util.ServiceLoader}
 * and are used only when they are asked for by name.
 */
public interface SelectorProvider {
    /** The name that {@code -Dmillrace.backend=} or the builder asks for. */
    String name();

    /** Why this backend cannot open here, or null if it can. Cheap; opens nothing that it does not close. */
    @Nullable
    Refusal refusal();

    /** One line on what a user should know of this choice, e.g. that its wait is linear; empty if nothing. */
    String remark();

    Selector open() throws IOException;

    /**
     * Why a backend was passed over.
     *
     * @param reason what failed and why
     * @param remedy what to do to have it
     */
    record Refusal(String reason, String remedy) {}
}
