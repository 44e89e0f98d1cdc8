package io.millrace.console;

import io.millrace.engine.LoopView;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.server.Monitored;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntSupplier;

/** What a console shows, by name. Not changed once the console is open. */
final class Observed {
    final Map<String, Monitored> servers = named();
    final Map<String, ComputePool> pools = named();
    final Map<String, ObjectPool<?>> objects = named();
    final Map<String, IntSupplier> sets = named();

    private static <T> Map<String, T> named() {
        return Collections.synchronizedMap(new LinkedHashMap<>());
    }

    static <T> void put(Map<String, T> map, String name, T value) {
        Objects.requireNonNull(value, "value");
        if (map.putIfAbsent(Objects.requireNonNull(name, "name"), value) != null) {
            throw new IllegalArgumentException("cannot add two under the name " + name + "; choose another");
        }
    }

    /** Returns the loops of all servers, each once. */
    Set<LoopView> loops() {
        Set<LoopView> loops = new LinkedHashSet<>();
        servers.values().forEach(server -> server.metrics().engine().ifPresent(engine -> loops.addAll(engine.loops())));
        return loops;
    }
}
