package io.millrace.examples.howto;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.console.Console;
import io.millrace.engine.LoopView;
import io.millrace.engine.pool.ComputePool;
import io.millrace.micrometer.MillraceMetrics;
import io.millrace.server.TcpServer;
import java.io.IOException;

/** A server that can be looked at: by the console, by Micrometer, and by the program itself. */
public final class Watched {
    private Watched() {}

    /**
     * Serves until somebody presses Enter; then prints what blocked a loop.
     *
     * @param args the port to listen on
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        MeterRegistry registry = new SimpleMeterRegistry(); // yours: Prometheus, OTLP …
        try (ComputePool pool = ComputePool.open();
                TcpServer server = TcpServer.listen(Integer.parseInt(args[0]), (connection, data) -> {
                    Thread.sleep(data.get(0) == 'z' ? 1_000 : 0); // a mistake
                    connection.send(data);
                })) {
            System.out.println(server + "; Enter ends it");
            MillraceMetrics metrics = MillraceMetrics.builder()
                    .add("shop", server)
                    .add("reports", pool)
                    .build();
            metrics.bindTo(registry);
            try (metrics) {
                watch(server, pool);
            }
            for (Meter meter : registry.getMeters()) {
                System.out.println(meter.getId().getName());
            }
        }
    }

    private static void watch(TcpServer server, ComputePool pool) throws IOException {
        try (Console console =
                Console.builder().add("shop", server).add("reports", pool).open()) {
            System.out.println(console.url());
            System.in.read();
        }
        for (LoopView loop : server.metrics().engine().orElseThrow().loops()) {
            loop.stalls()
                    .blocked()
                    .forEach(stall -> System.out.println(
                            stall.place() + " at " + stall.line().orElse(null)));
        }
    }
}
