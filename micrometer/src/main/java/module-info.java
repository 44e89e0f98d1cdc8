import org.jspecify.annotations.NullMarked;

/**
 * Binds the counters of Millrace to Micrometer: {@link io.millrace.micrometer.MillraceMetrics}.
 *
 * <p>A server and a pool, bound to a registry:
 *
 * {@snippet :
 * MillraceMetrics metrics = MillraceMetrics.builder()
 *         .add("shop", server)
 *         .add("reports", pool)
 *         .build();
 * metrics.bindTo(registry);
 * }
 */
@NullMarked
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"}) // Micrometer has no module-info
module io.millrace.micrometer {
    requires transitive io.millrace.engine;
    requires transitive io.millrace.server;
    requires transitive micrometer.core;
    requires static org.jspecify;

    exports io.millrace.micrometer;
}
