package io.millrace.cli;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/**
 * What {@code serve} was asked for. A number that was not given is null: what it is then, the service says.
 *
 * @param service echo, chat or redis
 * @param address where to listen
 * @param loops how many
 * @param backend null for the best
 * @param dispatch where handlers run
 * @param workers threads of the pool
 * @param spin before a loop sleeps
 * @param buffer bytes that are read at once
 * @param maxConnections more are turned away
 * @param maxPerAddress more from one address are turned away
 * @param idle silent for so long, closed
 * @param drain how long the end may take
 */
record Options(
        String service,
        InetSocketAddress address,
        @Nullable Integer loops,
        @Nullable String backend,
        Dispatch dispatch,
        @Nullable Integer workers,
        Duration spin,
        @Nullable Integer buffer,
        @Nullable Integer maxConnections,
        @Nullable Integer maxPerAddress,
        Duration idle,
        Duration drain) {
    private static final Duration LONGEST_MESSAGE = Duration.ofSeconds(60);

    static Options of(ParseResult parsed) throws UsageException {
        String host = parsed.matchedOptionValue("--host", "127.0.0.1");
        if (host.isBlank()) {
            // To the JDK that is the loopback address; to whoever has a variable that is not set, a surprise.
            throw new UsageException("--host is empty; name an address, such as 127.0.0.1 or 0.0.0.0");
        }
        InetSocketAddress address = new InetSocketAddress(host, number(parsed, "--port", 7007, 0, 65_535));
        if (address.isUnresolved()) {
            throw new UsageException("cannot resolve the host " + host);
        }
        Dispatch dispatch = dispatch(parsed.matchedOptionValue("--dispatch", "loop"));
        Integer workers = number(parsed, "--workers", 1, 1024);
        if (workers != null && dispatch != Dispatch.POOL) {
            throw new UsageException("--workers needs --dispatch pool");
        }
        return new Options(
                parsed.matchedPositionalValue(0, "echo"),
                address,
                number(parsed, "--loops", 1, 1024),
                parsed.matchedOptionValue("--backend", (String) null),
                dispatch,
                workers,
                Duration.ofNanos(1000L * number(parsed, "--spin", 0, 0, 1_000_000)),
                number(parsed, "--buffer", 1, 1 << 24),
                number(parsed, "--max-connections", 1, Integer.MAX_VALUE),
                number(parsed, "--max-per-address", 1, Integer.MAX_VALUE),
                Duration.ofSeconds(number(parsed, "--idle", 0, 0, Integer.MAX_VALUE)),
                Duration.ofSeconds(number(parsed, "--drain", 5, 0, 3600)));
    }

    private static int number(ParseResult parsed, String name, int otherwise, int min, int max) throws UsageException {
        Integer value = number(parsed, name, min, max);
        return value == null ? otherwise : value;
    }

    private static @Nullable Integer number(ParseResult parsed, String name, int min, int max) throws UsageException {
        Integer value = parsed.matchedOptionValue(name, (Integer) null);
        if (value != null && (value < min || value > max)) {
            throw new UsageException(name + " must be from " + min + " to " + max + ", not " + value);
        }
        return value;
    }

    private static Dispatch dispatch(String mode) throws UsageException {
        return switch (mode.toLowerCase(Locale.ROOT)) {
            case "loop" -> Dispatch.LOOP;
            case "pool" -> Dispatch.POOL;
            case "virtual" -> Dispatch.VIRTUAL;
            default -> throw new UsageException("--dispatch must be loop, pool or virtual, not " + mode);
        };
    }

    /** How long a client may take for one message. Who may not be silent for long may not dawdle either: a byte now and then is no silence. */
    Duration messageLimit() {
        return idle.isZero() || idle.compareTo(LONGEST_MESSAGE) > 0 ? LONGEST_MESSAGE : idle;
    }

    /** The loops that were asked for. */
    Reactors open(int loopsOtherwise) {
        Reactors.Builder builder = Reactors.builder()
                .name("millrace")
                .reactors(loops == null ? loopsOtherwise : loops)
                .spin(spin);
        if (backend != null) {
            builder.backend(backend);
        }
        return builder.open();
    }

    /** The server that was asked for. */
    TcpServer.Builder server(Reactors on, int bufferOtherwise) {
        int cores = Runtime.getRuntime().availableProcessors();
        TcpServer.Builder builder = TcpServer.builder()
                .manager(on)
                .address(address)
                .dispatch(dispatch, workers == null ? cores : workers)
                .idleTimeout(idle);
        int readSize = buffer == null ? bufferOtherwise : buffer;
        if (readSize > 0) {
            builder.bufferSize(readSize);
        }
        if (maxConnections != null) {
            builder.maxConnections(maxConnections);
        }
        if (maxPerAddress != null) {
            builder.maxConnectionsPerAddress(maxPerAddress);
        }
        return builder;
    }
}
