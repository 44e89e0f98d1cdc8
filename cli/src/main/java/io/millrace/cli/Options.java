package io.millrace.cli;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.net.UnixAddress;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/**
 * The options of {@code serve}. A number that was not given is null; then the service decides.
 *
 * @param service echo, chat, redis or http; or proxy
 * @param address where to listen
 * @param unix the Unix socket to listen at instead; null for the address
 * @param unixMode the permissions of its file; null for what the umask leaves
 * @param directory whose files http serves
 * @param udp whether echo takes datagrams instead of connections
 * @param loops the number of loops
 * @param backend null for the best
 * @param direct whether conversations on virtual threads serve the connections, instead of callbacks
 * @param loopThreads whether virtual threads may run on the loops
 * @param dispatch where handlers run
 * @param workers the number of threads of the pool
 * @param spin how long a loop looks for work before it sleeps
 * @param buffer how many bytes are read at once
 * @param maxConnections further connections are turned away
 * @param maxPerAddress further connections from one address are turned away
 * @param idle after how much silence a connection is closed
 * @param drain how long the shutdown may take
 * @param encryption null for plain connections
 * @param backplane the URL of the engine that chat shares its room by; null for a room of its own
 * @param console where the web console listens; null for none
 * @param takeover the Unix socket at which the running process hands its sockets over to the next; null for none
 */
record Options(
        String service,
        InetSocketAddress address,
        @Nullable Path unix,
        @Nullable Set<PosixFilePermission> unixMode,
        @Nullable Path directory,
        boolean udp,
        @Nullable Integer loops,
        @Nullable String backend,
        boolean direct,
        boolean loopThreads,
        Dispatch dispatch,
        @Nullable Integer workers,
        Duration spin,
        @Nullable Integer buffer,
        @Nullable Integer maxConnections,
        @Nullable Integer maxPerAddress,
        Duration idle,
        Duration drain,
        @Nullable Encryption encryption,
        @Nullable String backplane,
        @Nullable InetSocketAddress console,
        @Nullable Path takeover,
        @Nullable Proxied proxied) {
    /**
     * What only a proxy is asked for.
     *
     * @param upstream where to
     * @param unix the Unix socket to pass connections on to instead; null for the address
     * @param connectTimeout how long that may take
     * @param encrypted whether the upstream server is spoken to with TLS
     * @param trusted a file with the authorities that may have issued its certificate; null for the platform's
     */
    record Proxied(
            InetSocketAddress upstream,
            @Nullable Path unix,
            Duration connectTimeout,
            boolean encrypted,
            @Nullable String trusted) {}

    private static final String UNIX = "unix:";
    /** Where nobody listens, because a Unix socket takes its place. */
    private static final InetSocketAddress NONE = new InetSocketAddress(0);

    private static final Duration LONGEST_MESSAGE = Duration.ofSeconds(60);

    static Options of(ParseResult parsed) throws UsageException {
        String host = parsed.matchedOptionValue("--host", "127.0.0.1");
        if (host.isBlank()) {
            // The JDK would take this for the loopback address, which would surprise a user whose variable is not set.
            throw new UsageException("--host is empty; name an address, such as 127.0.0.1 or 0.0.0.0");
        }
        InetSocketAddress address = new InetSocketAddress(host, number(parsed, "--port", 7007, 0, 65_535));
        if (address.isUnresolved()) {
            throw new UsageException("cannot resolve the host " + host);
        }
        String service = parsed.matchedPositionalValue(0, "echo");
        if (isDirect(parsed) && !service.equals("echo")) {
            throw new UsageException("--style direct is for echo; " + service + " has callbacks only");
        }
        if (parsed.hasMatchedOption("--backplane") && !service.equals("chat")) {
            throw new UsageException("--backplane is for chat; " + service + " has nothing to share");
        }
        String directory = parsed.matchedPositionalValue(1, (String) null);
        if (service.equals("http") != (directory != null)) {
            throw new UsageException(
                    directory == null
                            ? "serve http needs a directory: millrace serve http DIR"
                            : "cannot understand " + directory + "; try millrace serve --help");
        }
        String unix = parsed.matchedOptionValue("--unix", (String) null);
        boolean udp = parsed.hasMatchedOption("--udp");
        if (udp
                && (!service.equals("echo")
                        || unix != null
                        || isDirect(parsed)
                        || Encryption.of(parsed) != null
                        || parsed.hasMatchedOption("--console"))) {
            throw new UsageException("--udp is for a plain echo, without --unix, --style direct, --console or TLS");
        }
        return of(
                parsed,
                service,
                address,
                unix == null ? null : path("--unix", unix),
                directory == null ? null : Path.of(directory),
                udp,
                null);
    }

    private static Path path(String name, String text) throws UsageException {
        if (text.isBlank()) {
            throw new UsageException(name + " is empty; name a path");
        }
        return Path.of(text);
    }

    /** Returns null for an address that is no Unix socket. */
    private static @Nullable Path unixPath(String name, String text) throws UsageException {
        return text.startsWith(UNIX) ? path(name, text.substring(UNIX.length())) : null;
    }

    /** Permissions as chmod(1) has them, in octal. */
    private static @Nullable Set<PosixFilePermission> mode(ParseResult parsed, @Nullable Path unix)
            throws UsageException {
        String mode = parsed.matchedOptionValue("--unix-mode", (String) null);
        if (mode == null) {
            return null;
        }
        if (unix == null) {
            throw new UsageException("--unix-mode is for the file of a Unix socket, and there is none");
        }
        if (!mode.matches("0?[0-7]{3}")) {
            throw new UsageException("--unix-mode must be three octal digits, such as 660, not " + mode);
        }
        int bits = Integer.parseInt(mode, 8);
        char[] letters = "rwxrwxrwx".toCharArray();
        for (int i = 0; i < letters.length; i++) {
            letters[i] = (bits & 0400 >> i) == 0 ? '-' : letters[i];
        }
        return PosixFilePermissions.fromString(new String(letters));
    }

    static Options ofProxy(ParseResult parsed) throws UsageException {
        String upstream = parsed.matchedPositionalValue(1, "");
        String listen = parsed.matchedPositionalValue(0, "");
        Path unix = unixPath("LISTEN", listen);
        Path unixUpstream = unixPath("UPSTREAM", upstream);
        Proxied proxied = new Proxied(
                unixUpstream == null ? address("UPSTREAM", upstream, 1) : NONE,
                unixUpstream,
                Duration.ofSeconds(number(parsed, "--connect-timeout", 10, 0, 3600)),
                parsed.hasMatchedOption("--upstream-tls") || parsed.hasMatchedOption("--upstream-ca"),
                parsed.matchedOptionValue("--upstream-ca", (String) null));
        return of(parsed, "proxy", unix == null ? address("LISTEN", listen, 0) : NONE, unix, null, false, proxied);
    }

    private static InetSocketAddress address(String name, String text, int lowestPort) throws UsageException {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        boolean inBrackets = host.startsWith("[") && host.endsWith("]");
        if (inBrackets) {
            host = host.substring(1, host.length() - 1);
        }
        if (host.isBlank() || (host.contains(":") && !inBrackets)) {
            throw new UsageException(name + " must be HOST:PORT, [IPV6]:PORT or unix:PATH, not " + text);
        }
        int port;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new UsageException(name + " must be HOST:PORT, or [IPV6]:PORT, not " + text);
        }
        if (port < lowestPort || port > 65_535) {
            throw new UsageException("the port of " + name + " must be from " + lowestPort + " to 65535, not " + port);
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UsageException("cannot resolve the host " + host + " of " + name);
        }
        return address;
    }

    private static boolean isDirect(ParseResult parsed) throws UsageException {
        String style = parsed.hasMatchedOption("--style") ? parsed.matchedOptionValue("--style", "") : "callback";
        return switch (style.toLowerCase(Locale.ROOT)) {
            case "callback" -> false;
            case "direct" -> true;
            default -> throw new UsageException("--style must be callback or direct, not " + style);
        };
    }

    private static Options of(
            ParseResult parsed,
            String service,
            InetSocketAddress address,
            @Nullable Path unix,
            @Nullable Path directory,
            boolean udp,
            @Nullable Proxied proxied)
            throws UsageException {
        Dispatch dispatch = dispatch(parsed.matchedOptionValue("--dispatch", "loop"));
        Integer workers = number(parsed, "--workers", 1, 1024);
        if (workers != null && dispatch != Dispatch.POOL) {
            throw new UsageException("--workers needs --dispatch pool");
        }
        String takeover = parsed.matchedOptionValue("--takeover", (String) null);
        boolean direct = isDirect(parsed);
        if (direct && dispatch != Dispatch.LOOP) {
            throw new UsageException("--style direct has threads of its own; leave out --dispatch");
        }
        return new Options(
                service,
                address,
                unix,
                mode(parsed, unix),
                directory,
                udp,
                number(parsed, "--loops", 1, 1024),
                parsed.matchedOptionValue("--backend", (String) null),
                direct,
                !parsed.hasMatchedOption("--no-loop-threads"),
                dispatch,
                workers,
                Duration.ofNanos(1000L * number(parsed, "--spin", 0, 0, 1_000_000)),
                number(parsed, "--buffer", 1, 1 << 24),
                number(parsed, "--max-connections", 1, Integer.MAX_VALUE),
                number(parsed, "--max-per-address", 1, Integer.MAX_VALUE),
                Duration.ofSeconds(number(parsed, "--idle", 0, 0, Integer.MAX_VALUE)),
                Duration.ofSeconds(number(parsed, "--drain", 5, 0, 3600)),
                Encryption.of(parsed),
                parsed.matchedOptionValue("--backplane", (String) null),
                console(parsed),
                takeover == null ? null : path("--takeover", takeover),
                proxied);
    }

    private static @Nullable InetSocketAddress console(ParseResult parsed) throws UsageException {
        String host = parsed.matchedOptionValue("--console-host", "127.0.0.1");
        if (!parsed.hasMatchedOption("--console")) {
            if (parsed.hasMatchedOption("--console-host")) {
                throw new UsageException("--console-host needs --console");
            }
            return null;
        }
        InetSocketAddress address = new InetSocketAddress(host, number(parsed, "--console", 0, 0, 65_535));
        if (host.isBlank() || address.isUnresolved()) {
            throw new UsageException("cannot resolve the host " + host + " of --console-host");
        }
        return address;
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

    /**
     * Returns how long a client may take for one message. With a short idle timeout this is short, too, because a
     * client that sends a byte now and then is not idle.
     */
    Duration messageLimit() {
        return idle.isZero() || idle.compareTo(LONGEST_MESSAGE) > 0 ? LONGEST_MESSAGE : idle;
    }

    /** Opens the loops that were asked for. */
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

    /** Returns a builder for the server that was asked for. */
    TcpServer.Builder server(Reactors on, int bufferOtherwise) {
        int cores = Runtime.getRuntime().availableProcessors();
        TcpServer.Builder builder = TcpServer.builder()
                .manager(on)
                .address(address)
                .dispatch(dispatch, workers == null ? cores : workers)
                .loopThreads(loopThreads)
                .idleTimeout(idle);
        int readSize = buffer == null ? bufferOtherwise : buffer;
        if (readSize > 0) {
            builder.bufferSize(readSize);
        }
        if (unix != null) {
            builder.address(UnixAddress.of(unix));
            if (unixMode != null) {
                builder.socketPermissions(unixMode);
            }
        }
        if (maxConnections != null) {
            builder.maxConnections(maxConnections);
        }
        if (maxPerAddress != null) {
            builder.maxConnectionsPerAddress(maxPerAddress);
        }
        return builder;
    }

    /** The client that a proxy connects with: its connections are as those of the server. */
    TcpClient.Builder client(Reactors on, Duration connectTimeout) {
        int cores = Runtime.getRuntime().availableProcessors();
        TcpClient.Builder builder = TcpClient.builder()
                .manager(on)
                .connectTimeout(connectTimeout)
                .dispatch(dispatch, workers == null ? cores : workers)
                .loopThreads(loopThreads)
                .idleTimeout(idle);
        if (buffer != null) {
            builder.bufferSize(buffer);
        }
        return builder;
    }
}
