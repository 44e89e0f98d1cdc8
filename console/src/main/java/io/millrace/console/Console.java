package io.millrace.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.server.Connection;
import io.millrace.server.Monitored;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A web page that shows what servers and clients are doing: loops, connections, stalls, timers, pools, and what a
 * shutdown waits for. {@code /metrics} and {@code /health} are beside it.
 *
 * {@snippet :
 * try (Console console = Console.attach(server)) {
 *     System.out.println(console.url()); // http://127.0.0.1:40123/#token=…
 * }
 * }
 *
 * <p><b>Independent.</b> It has threads of its own and the JDK's HTTP server, so it answers while every loop is blocked. They
 * do not keep the program alive. It reads state from the objects when a viewer asks; nothing is recorded, and without a viewer nothing runs.
 *
 * <p><b>Protected.</b> By default it listens on the loopback interface only, and everything but {@code /health} and the
 * empty page needs the token in its address. Requests under another host's name are refused, and so are changes that
 * another site's page asks for. Texts that peers choose are never interpreted by the page. It speaks plain HTTP: to look
 * at it from elsewhere, use a tunnel such as {@code ssh -L}.
 *
 * <p><b>Threads.</b> Any thread may call.
 */
public final class Console implements AutoCloseable {
    private static final String CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    private static final System.Logger LOGGER = System.getLogger("io.millrace.console");

    private final HttpServer http;
    private final RequestThreads threads;
    /** Many clients may be slow to ask and to listen; answers are made for a few at a time, because that takes processors. */
    private final Semaphore working = new Semaphore(8);

    private final Guard guard;
    private final Views views;
    private final OpenMetrics metrics;
    private final InetSocketAddress address;

    private Console(Builder builder) throws IOException {
        this.http = listen(builder.address);
        this.address = http.getAddress();
        this.guard = new Guard(builder.token, builder.address.getHostString());
        this.views = new Views(builder.observed);
        this.metrics = new OpenMetrics(builder.observed);
        this.threads = new RequestThreads(builder.toRead, builder.toAnswer);
        http.setExecutor(threads);
        http.createContext("/", this::handle);
        start();
    }

    private static HttpServer listen(InetSocketAddress address) throws IOException {
        String problem = "cannot open the console on " + address + ": ";
        if (address.isUnresolved()) {
            throw new UnknownHostException(problem + "the host cannot be resolved");
        }
        try {
            return HttpServer.create(address, 0);
        } catch (IOException e) {
            throw new IOException(
                    problem + e.getMessage() + "; choose a free port (0 takes any) on an address of this machine", e);
        }
    }

    /** Starts listening. The JDK's thread inherits from the one that starts it not to keep the program alive. */
    private void start() {
        Thread starter = new Thread(http::start, "millrace-console-start");
        starter.setDaemon(true);
        starter.start();
        boolean interrupted = false;
        while (starter.isAlive()) {
            try {
                starter.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Opens a console on any free port of the loopback interface.
     *
     * @param server what to show; also a client
     * @return a console, which the caller must close
     * @throws IOException if it cannot listen
     */
    public static Console attach(Monitored server) throws IOException {
        return builder().add("server", server).open();
    }

    /**
     * Returns a builder, for several servers, or a fixed port.
     *
     * @return a builder with nothing to show
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the address of the page, with the token after {@code #}, so that the browser does not send it with the
     * address.
     *
     * @return to open in a browser
     */
    public URI url() {
        InetAddress host = address.getAddress();
        return URI.create("http://" + (host.isAnyLocalAddress() ? "localhost" : Views.inUrl(host)) + ":"
                + address.getPort() + "/#token=" + guard.token());
    }

    /**
     * Returns where it listens.
     *
     * @return with the port that the system chose if 0 was requested
     */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Returns the secret that requests need.
     *
     * @return for the header {@code X-Millrace-Token}, or {@code Authorization: Bearer}
     */
    public String token() {
        return guard.token();
    }

    /** Stops listening. What it showed is not affected. */
    @Override
    public void close() {
        http.stop(0);
        threads.close();
    }

    @Override
    public String toString() {
        return "console on " + address;
    }

    // ---- Requests ----

    private void handle(HttpExchange exchange) throws IOException {
        threads.haveRead();
        boolean head = exchange.getRequestMethod().equals("HEAD");
        try (exchange) {
            Headers headers = exchange.getResponseHeaders();
            headers.set("Content-Security-Policy", CSP);
            headers.set("X-Content-Type-Options", "nosniff");
            headers.set("Referrer-Policy", "no-referrer");
            headers.set("Cross-Origin-Resource-Policy", "same-origin");
            headers.set("Cache-Control", "no-store");
            Answer answer;
            try {
                working.acquire();
            } catch (InterruptedException e) {
                return; // its time is over
            }
            try {
                answer = answer(exchange);
            } catch (Throwable e) { // also what the size of a user's set may throw
                LOGGER.log(System.Logger.Level.WARNING, "cannot answer a request for " + exchange.getRequestURI(), e);
                answer = new Answer(500, "text/plain", "the console failed: " + e + "\n");
            } finally {
                working.release();
            }
            headers.set("Content-Type", answer.type() + "; charset=utf-8");
            boolean empty = head || answer.body().length == 0;
            exchange.sendResponseHeaders(answer.status(), empty ? -1 : answer.body().length);
            if (!empty) {
                exchange.getResponseBody().write(answer.body());
            }
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // lives for one answer, and is never compared
    private record Answer(int status, String type, byte[] body) {
        Answer(int status, String type, String body) {
            this(status, type, body.getBytes(StandardCharsets.UTF_8));
        }
    }

    private Answer answer(HttpExchange exchange) throws IOException {
        Headers headers = exchange.getRequestHeaders();
        if (!guard.isOurHost(headers)) {
            return new Answer(
                    421,
                    "text/plain",
                    "not by this name: open the console by the address that was printed, or by an IP address\n");
        }
        String path = exchange.getRequestURI().getPath();
        String method = exchange.getRequestMethod();
        boolean post = method.equals("POST");
        if (!post && !method.equals("GET") && !method.equals("HEAD")) {
            return new Answer(405, "text/plain", "only GET, HEAD and POST\n");
        }
        switch (path) {
            case "/" -> {
                return resource("page.html", "text/html");
            }
            case "/page.css" -> {
                return resource("page.css", "text/css");
            }
            case "/page.js" -> {
                return resource("page.js", "text/javascript");
            }
            case "/health" -> {
                return health();
            }
            default -> {}
        }
        if (!guard.hasToken(headers)) {
            return new Answer(
                    401, "text/plain", "the token is missing or wrong; it is in the address that was printed\n");
        }
        if (post && !guard.isOurPage(headers)) {
            return new Answer(403, "text/plain", "another site's page must not change anything here\n");
        }
        // Well-formed: the JDK has refused any other address.
        Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
        return post ? change(path, query) : look(path, query, headers);
    }

    private Answer health() {
        String complaint = views.complaint();
        return complaint == null
                ? new Answer(200, "text/plain", "ok\n")
                : new Answer(503, "text/plain", complaint + "\n");
    }

    private Answer look(String path, Map<String, String> query, Headers headers) {
        return switch (path) {
            case "/metrics" -> {
                String accepted = headers.getFirst("Accept");
                boolean open = accepted != null && accepted.contains(OpenMetrics.TYPE);
                yield new Answer(
                        200,
                        open ? OpenMetrics.TYPE + "; version=1.0.0" : "text/plain; version=0.0.4",
                        metrics.text(open));
            }
            case "/api/overview" -> json(views.overview());
            case "/api/connections" -> json(views.connections(query));
            case "/api/connection" -> json(views.connection(query));
            case "/api/stalls" -> json(views.stalls());
            case "/api/timers" -> json(views.timers());
            case "/api/shutdown" -> json(views.shutdown());
            case "/api/sources" -> json(views.sources(query));
            case "/api/dump" -> new Answer(200, "text/plain", views.dump());
            default -> new Answer(404, "text/plain", "there is no " + path.replaceAll("[^\\w/]", "?") + "\n");
        };
    }

    private Answer change(String path, Map<String, String> query) {
        if (!path.equals("/api/close")) {
            return new Answer(404, "text/plain", "there is nothing to change there\n");
        }
        Connection connection = views.find(query);
        if (connection == null) {
            return new Answer(404, "text/plain", "there is no such connection any more\n");
        }
        if (query.containsKey("abort")) {
            connection.abort();
        } else {
            connection.close();
        }
        return json(new Json().object(json -> json.put("closed", connection.id())));
    }

    private static Answer json(Json json) {
        return new Answer(200, "application/json", json.toString());
    }

    private static Answer resource(String name, String type) throws IOException {
        try (InputStream in = Objects.requireNonNull(Console.class.getResourceAsStream(name), name)) {
            return new Answer(200, type, in.readAllBytes());
        }
    }

    private static Map<String, String> query(@Nullable String raw) {
        Map<String, String> all = new LinkedHashMap<>();
        if (raw != null) {
            for (String part : raw.split("&", 32)) {
                int equals = part.indexOf('=');
                all.put(
                        URLDecoder.decode(equals < 0 ? part : part.substring(0, equals), StandardCharsets.UTF_8),
                        equals < 0 ? "" : URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
        return all;
    }

    /** Collects what a console shows, and where. */
    public static final class Builder {
        private final Observed observed = new Observed();
        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private @Nullable String token;
        /** How long a client may take to send a request, and to receive the answer; shorter in tests. */
        Duration toRead = Duration.ofSeconds(5);

        Duration toAnswer = Duration.ofSeconds(30);

        private Builder() {}

        /**
         * Adds a server or client.
         *
         * @param name what the page calls it
         * @param server any server or client
         * @return this
         */
        public Builder add(String name, Monitored server) {
            Observed.put(observed.servers, name, server);
            return this;
        }

        /**
         * Adds a pool of threads.
         *
         * @param name what the page calls it
         * @param pool any pool
         * @return this
         */
        public Builder add(String name, ComputePool pool) {
            Observed.put(observed.pools, name, pool);
            return this;
        }

        /**
         * Adds a pool of objects.
         *
         * @param name what the page calls it
         * @param pool any pool
         * @return this
         */
        public Builder add(String name, ObjectPool<?> pool) {
            Observed.put(observed.objects, name, pool);
            return this;
        }

        /**
         * Adds a set of futures or streams.
         *
         * @param name what the page calls it
         * @param size returns how many it holds, such as {@code set::size}
         * @return this
         */
        public Builder addSet(String name, IntSupplier size) {
            Observed.put(observed.sets, name, size);
            return this;
        }

        /**
         * Sets where to listen. On an address that others can reach, the token is all that protects it, and it travels
         * unencrypted.
         *
         * @param local any free port of the loopback interface by default
         * @return this
         */
        public Builder address(InetSocketAddress local) {
            this.address = Objects.requireNonNull(local, "local");
            return this;
        }

        /**
         * Sets the secret that requests need.
         *
         * @param secret at least 16 characters; a random one by default
         * @return this
         */
        public Builder token(String secret) {
            if (!secret.matches("[\\w.-]{16,}")) {
                throw new IllegalArgumentException(
                        "a token must have at least 16 characters, all of them letters, digits or one of _ . -");
            }
            this.token = secret;
            return this;
        }

        /**
         * Opens the console.
         *
         * @return a console, which the caller must close
         * @throws IOException if it cannot listen there
         */
        public Console open() throws IOException {
            return new Console(this);
        }
    }
}
