package io.millrace.console;

import io.millrace.engine.LoopView;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.server.Monitored;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
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

    /**
     * Returns the loops of all servers, each once. Names that several loops have get a number, because a name is what
     * tells the loops apart in a metric and on the page.
     */
    List<ObservedLoop> loops() {
        Set<LoopView> views = new LinkedHashSet<>();
        servers.values().forEach(server -> server.metrics().engine().ifPresent(engine -> views.addAll(engine.loops())));
        Set<String> taken = new HashSet<>();
        List<ObservedLoop> loops = new ArrayList<>(views.size());
        for (LoopView view : views) {
            String name = view.name();
            for (int i = 2; !taken.add(name); i++) {
                name = view.name() + " (" + i + ")";
            }
            loops.add(new ObservedLoop(name, view));
        }
        return loops;
    }
}
