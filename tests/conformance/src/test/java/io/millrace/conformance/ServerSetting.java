package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.net.UnixAddress;
import io.millrace.poll.Clock;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where a server of a test runs: a backend of ours, a manager that is not, or an event loop; where its callbacks run; and whether its connections have TLS; and whether they come over TCP or a Unix socket. A build tries a slice of all combinations; with {@code
 * -Dmillrace.matrix=full}, all; with {@code tcp}, all without TLS over TCP, and of the others the same slice.
 */
record ServerSetting(String on, Dispatch dispatch, boolean tls, boolean unix) {
    /** How many the managers of ours have. */
    static final int REACTORS = 2;

    private static final AtomicInteger PATHS = new AtomicInteger();

    private static final String FOREIGN = "foreign";
    private static final String COMPLETION = "completion";
    private static final String EVENT_LOOP = "event loop";

    ServerSetting(String on, Dispatch dispatch) {
        this(on, dispatch, false);
    }

    ServerSetting(String on, Dispatch dispatch, boolean tls) {
        this(on, dispatch, tls, false);
    }

    /** Whether all combinations are wanted, and not only the slice of a build. */
    static boolean isFull() {
        return "full".equals(System.getProperty("millrace.matrix")) || Boolean.getBoolean("millrace.soak");
    }

    /** How often a test repeats itself to provoke a race: a third as often in a build as with the full matrix. */
    int rounds(int all) {
        return Math.max(1, share(isFull() ? all : all / 3));
    }

    /**
     * How much a test sends: less with TLS, which is slow in the JVMs of tests, because their compiler has no code of
     * its own for ciphers.
     */
    int share(int all) {
        return tls ? Math.max(1, all / 10) : all;
    }

    static List<ServerSetting> chosen() {
        boolean full = isFull();
        boolean fullOverTcp = full || "tcp".equals(System.getProperty("millrace.matrix"));
        List<ServerSetting> chosen = new ArrayList<>();
        for (String on : List.of("epoll", "poll", "nio", FOREIGN, COMPLETION, EVENT_LOOP)) {
            for (Dispatch dispatch : Dispatch.values()) {
                // The slice has each of both, and what differs most.
                if (fullOverTcp
                        || on.equals("epoll")
                        || dispatch == (on.equals(FOREIGN) ? Dispatch.POOL : Dispatch.LOOP)) {
                    chosen.add(new ServerSetting(on, dispatch));
                }
            }
        }
        // With TLS the slice has what differs most: one takes bytes at once and the other later, and callbacks here or
        // elsewhere.
        List<ServerSetting> plain = full
                ? List.copyOf(chosen)
                : List.of(new ServerSetting("epoll", Dispatch.LOOP), new ServerSetting(COMPLETION, Dispatch.POOL));
        for (ServerSetting each : plain) {
            chosen.add(new ServerSetting(each.on, each.dispatch, true));
        }
        return chosen;
    }

    /** The same, and at Unix sockets: of those a build has what differs most. */
    static List<ServerSetting> withUnix() {
        List<ServerSetting> all = new ArrayList<>(chosen());
        List<ServerSetting> at = isFull()
                ? chosen()
                : List.of(
                        new ServerSetting("epoll", Dispatch.LOOP),
                        new ServerSetting("epoll", Dispatch.POOL, true),
                        new ServerSetting("nio", Dispatch.LOOP),
                        new ServerSetting(COMPLETION, Dispatch.LOOP));
        for (ServerSetting each : at) {
            all.add(new ServerSetting(each.on, each.dispatch, each.tls, true));
        }
        return all;
    }

    /** Whether it is a manager that is not ours. */
    boolean isForeign() {
        return on.equals(FOREIGN) || on.equals(COMPLETION);
    }

    /** A manager of this kind, which must be closed. */
    Opened open(Clock clock) {
        if (on.equals(FOREIGN)) {
            ThreadyManager manager = new ThreadyManager(clock, InstantSource.system());
            return new Opened(this, manager, manager);
        }
        if (on.equals(COMPLETION)) {
            CompletionOnlyManager manager = new CompletionOnlyManager(clock, InstantSource.system());
            return new Opened(this, manager, manager);
        }
        if (on.equals(EVENT_LOOP)) {
            EventLoop loop = EventLoop.builder()
                    .workers(1)
                    .clock(clock)
                    .withoutWatchdog()
                    .name("test")
                    .open();
            Thread.ofPlatform().daemon().name("test-loop").start(loop::run);
            return new Opened(this, loop, loop);
        }
        Reactors reactors = Reactors.builder()
                .reactors(REACTORS)
                .backend(on)
                .clock(clock)
                .withoutWatchdog()
                .name("test")
                .open();
        return new Opened(this, reactors, reactors);
    }

    /** A manager or an event loop that is open. */
    record Opened(ServerSetting setting, Object on, AutoCloseable closing) implements AutoCloseable {
        TcpServer.Builder server() {
            TcpServer.Builder builder = TcpServer.builder().dispatch(setting.dispatch, 2);
            if (setting.tls) {
                builder.tls(TestCertificates.shared().server());
            }
            if (setting.unix) {
                builder.address(UnixAddress.of(newPath()));
            }
            return on instanceof EventLoop loop ? builder.loop(loop) : builder.manager((EventManager) on);
        }

        TcpClient.Builder client() {
            TcpClient.Builder builder = TcpClient.builder().dispatch(setting.dispatch, 2);
            if (setting.tls) {
                builder.tls(TestCertificates.shared().client());
            }
            return on instanceof EventLoop loop ? builder.loop(loop) : builder.manager((EventManager) on);
        }

        /** Where no socket is, in a short path; it goes with its server. */
        static Path newPath() {
            return Path.of(
                    System.getProperty("java.io.tmpdir"),
                    "mr-" + ProcessHandle.current().pid() + "-" + PATHS.incrementAndGet() + ".sock");
        }

        @Override
        public void close() {
            try {
                closing.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public String toString() {
        return on + ", " + dispatch + (tls ? ", TLS" : "") + (unix ? ", Unix" : "");
    }
}
