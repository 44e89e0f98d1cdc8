package io.millrace.conformance;

import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.ConnectionRig;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Connections over real sockets, for the suite that {@code TestConnection} must pass too. */
final class SocketRig implements ConnectionRig {
    private final ManualClock clock = new ManualClock();
    private final ServerSetting.Opened manager;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private @Nullable TcpServer server;
    private int peers;

    SocketRig(ServerSetting setting) {
        this.manager = setting.open(clock);
        opened.add(manager);
    }

    @Override
    public TcpServer.Builder server() {
        return manager.server();
    }

    @Override
    public Peer open(TcpServer.Builder settings, ConnectionHandler handler) throws IOException {
        TcpServer started = settings.start(handler);
        opened.add(started);
        server = started;
        return openAnother();
    }

    @Override
    public Peer openAnother() throws IOException {
        SocketPeer peer =
                new SocketPeer(Objects.requireNonNull(server), manager.setting().tls(), ++peers);
        opened.add(peer.socket);
        return peer;
    }

    /** The JDK's client does not mind a stream of TLS that is cut off. */
    @Override
    public boolean showsLosses() {
        return !manager.setting().unix();
    }

    @Override
    public void advance(Duration by) throws Exception {
        settle();
        clock.advance(by);
        settle();
    }

    /** Each loop, and then each connection's thread, has done what it was given; three times, because the one gives work to the other. */
    @Override
    public void settle() throws Exception {
        for (int i = 0; i < 3; i++) {
            settleLoops();
            for (Connection each : Objects.requireNonNull(server).context().connections()) {
                try {
                    settle(each);
                } catch (RejectedExecutionException e) {
                    // It has ended.
                }
            }
        }
    }

    private void settleLoops() throws Exception {
        switch (manager.on()) {
            case ThreadyManager foreign -> Await.until("the manager is idle", foreign::isIdle);
            case CompletionOnlyManager foreign -> Await.until("the manager is idle", foreign::isIdle);
            case EventLoop loop -> settle(loop::execute);
            default -> {
                EventManager reactors = (EventManager) manager.on();
                for (int reactor = 0; reactor < ServerSetting.REACTORS; reactor++) {
                    settle(reactors::execute); // one after the other
                }
            }
        }
    }

    private static void settle(Executor executor) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        executor.execute(() -> done.complete(null));
        done.get(10, TimeUnit.SECONDS);
    }

    @Override
    public void await(String what, BooleanSupplier condition) {
        Await.until(what, condition);
    }

    @Override
    public void close() {
        for (AutoCloseable one : opened.reversed()) {
            try {
                one.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final class SocketPeer implements Peer {
        private static final int PATIENCE_MILLIS = 20_000;

        private final TcpServer server;
        private final Socket socket;
        private final int port;
        /** Counted from 1, as the ids of connections are. */
        private final int number;

        private @Nullable Connection known;

        SocketPeer(TcpServer server, boolean tls, int number) throws IOException {
            this.server = server;
            this.number = number;
            Socket plain = UnixSocket.connect(server);
            plain.setSoTimeout(PATIENCE_MILLIS);
            this.socket = tls ? secured(plain) : plain;
            this.port = plain.getLocalPort();
        }

        private static Socket secured(Socket plain) {
            try {
                return TlsSocket.client(plain);
            } catch (IOException e) {
                return new TurnedAway();
            }
        }

        /** One that was closed before its handshake was complete. */
        private static final class TurnedAway extends Socket {
            @Override
            public InputStream getInputStream() {
                return InputStream.nullInputStream();
            }
        }

        @Override
        public void send(byte... bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        @Override
        public void endOutput() throws IOException {
            if (!socket.isOutputShutdown()) {
                socket.shutdownOutput();
            }
        }

        @Override
        public void reset() throws IOException {
            Connection there = connection();
            if (there.unixAddress() != null) {
                there.send("?"); // a Unix socket is reset if it is closed with something unread
                there.written().join();
            }
            socket.setSoLinger(true, 0);
            socket.close();
        }

        @Override
        public byte[] read(int count) throws IOException {
            return socket.getInputStream().readNBytes(count);
        }

        @Override
        public byte[] readToEnd() throws IOException {
            return socket.getInputStream().readAllBytes();
        }

        @Override
        public Connection connection() {
            Await.until("the connection is there", () -> find() != null);
            return Objects.requireNonNull(known);
        }

        private @Nullable Connection find() {
            for (Connection each : server.context().connections()) {
                boolean mine =
                        each.unixAddress() == null ? each.remoteAddress().getPort() == port : each.id() == number;
                if (known == null && mine) {
                    known = each;
                }
            }
            return known;
        }
    }
}
