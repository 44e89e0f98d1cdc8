package io.millrace.backplane.spi;

import io.millrace.engine.EventManager;

/**
 * What an engine is opened with.
 *
 * @param url the whole URL
 * @param manager runs what needs time: alarms to try again
 * @param node the id of this node
 * @param namespace begins the names of everything that is stored
 * @param history how many records each log keeps at least
 * @param listener learns whether the engine can be reached
 */
public record EngineSettings(
        String url, EventManager manager, String node, String namespace, int history, EngineListener listener) {}
