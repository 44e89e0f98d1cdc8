package io.millrace.backplane.spi;

import java.util.Set;

/** Opens engines; found by {@link java.util.ServiceLoader}. */
public interface EngineProvider {
    /**
     * Returns the schemes of the URLs that it understands.
     *
     * @return in lower case, without the colon
     */
    Set<String> schemes();

    /**
     * Opens an engine without waiting for its connection.
     *
     * @param settings its URL and everything else
     * @return connecting
     * @throws IllegalArgumentException if the URL is not complete or has something that is not understood
     */
    Engine open(EngineSettings settings);
}
