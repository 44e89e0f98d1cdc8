package io.millrace.server;

import io.millrace.engine.EventLoop;
import io.millrace.engine.Reactors;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.transport.DatagramSink;
import io.millrace.engine.transport.DatagramTransport;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.PassedDescriptor;
import io.millrace.net.Systemd;
import io.millrace.net.UdpOptions;
import io.millrace.net.UdpSocket;
import io.millrace.server.group.LoopGroup;
import io.millrace.server.handover.HandoverTalk;
import io.millrace.server.handover.SocketLine;
import io.millrace.server.support.ServerSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A UDP server: receives datagrams and calls your handler, which may answer.
 *
 * {@snippet :
 * try (UdpServer server = UdpServer.listen(7007, (from, data) -> from.reply(data))) {
 *   System.in.read();
 * }
 * }
 *
 * <p><b>What it guarantees.</b> The handler is called once for each datagram that was received; calls on one loop never
 * overlap; a sender's datagrams all go to the same loop, and are shown in the order in which the system received them. A
 * handler that throws affects no other datagram. Memory is bounded: what is not read waits in the kernel's buffer, and is
 * lost when that is full, as always with UDP. While the system does not take answers, nothing is received.
 *
 * <p><b>Cost.</b> On Linux, one system call receives up to 32 datagrams, and one sends their answers (recvmmsg,
 * sendmmsg). Nothing is allocated for a datagram and its answer, unless the handler asks for the sender's address and
 * that has changed.
 *
 * <p><b>Threads.</b> Any thread may call any method. The handler is called on the loops, and must not block.
 *
 * <p><b>Loops.</b> As for {@link TcpServer}: if the kernel can distribute senders over several sockets on one port
 * (SO_REUSEPORT on Linux), each loop has its own; otherwise the first loop receives everything.
 *
 * <h2>Portability</h2>
 * Works everywhere, on {@link Reactors} and {@link EventLoop}. Other systems than Linux, and NIO, make a system call for
 * each datagram.
 */
public final class UdpServer implements AutoCloseable {
    /** The longest datagram that IPv4 can carry. */
    private static final int LONGEST = 65_507;

    private final LoopGroup loops;
    private final DatagramHandler handler;
    private final InetSocketAddress address;
    private final int maxPending;
    private final int maxDatagram;
    private final List<UdpSocket> sockets = new ArrayList<>();
    /** One for each socket, once they receive. Set while {@link #sockets} is held. */
    private volatile List<Receiver> receivers = List.of();
    /** Whether a service manager keeps the sockets for the next process. */
    private boolean kept;

    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicInteger nextSender = new AtomicInteger();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<ShutdownResult> result = new CompletableFuture<>();

    private UdpServer(Builder builder, DatagramHandler handler) throws IOException {
        this.handler = handler;
        this.maxPending = builder.maxPending;
        this.maxDatagram = builder.maxDatagram;
        this.loops = builder.loops.get();
        boolean started = false;
        try {
            this.address = bind(builder);
            Takeover takeover = builder.takeover;
            if (takeover == null) {
                receive();
            } else {
                takeover.add(builder.name, new Transfer(builder.name));
            }
            started = true;
        } finally {
            if (!started) {
                builder.inherited.forEach(PassedDescriptor::close);
                closeUnattached();
                for (Receiver each : receivers) {
                    var ignored = each.closeSoon();
                }
                loops.endBy(Deadline.after(loops.clock(), Deadline.OF_CLOSE));
            }
        }
    }

    /**
     * Starts a server with the defaults on a port of the loopback interface. It runs on the global manager, whose threads
     * are daemons: they do not keep the JVM alive when {@code main} returns.
     *
     * @param port the port, or 0 for any free one
     * @param handler called for every datagram
     * @return a server, which the caller must close
     * @throws IOException if it cannot receive there
     */
    public static UdpServer listen(int port, DatagramHandler handler) throws IOException {
        return builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start(handler);
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    private InetSocketAddress bind(Builder builder) throws IOException {
        List<PassedDescriptor> passed = passed(builder);
        if (passed.isEmpty()) {
            bindToAddress(builder);
        } else {
            try {
                Takeover.requireDescriptors(loops, passed.getFirst());
                for (PassedDescriptor each : passed) {
                    sockets.add(each.udpSocket());
                }
            } finally {
                passed.forEach(PassedDescriptor::close); // those that have not become sockets
            }
        }
        for (UdpSocket socket : sockets) {
            if (builder.sendBuffer > 0) {
                socket.setSendBuffer(builder.sendBuffer);
            }
        }
        return sockets.getFirst().localAddress();
    }

    /** Returns the sockets that it gets from another process, if it does. */
    private List<PassedDescriptor> passed(Builder builder) throws IOException {
        List<HandoverTalk.Handed> handed = builder.takeover == null
                ? List.of()
                : builder.takeover.claim(
                        builder.name,
                        SocketLine.Kind.UDP,
                        builder.address,
                        each -> Takeover.isAt(builder.address, each.socket().address()));
        if (handed.isEmpty()) {
            kept = !builder.inherited.isEmpty();
            return builder.inherited;
        }
        kept = handed.getFirst().line().kept();
        builder.inherited.forEach(PassedDescriptor::close); // the predecessor's are the same
        return handed.stream().map(HandoverTalk.Handed::socket).toList();
    }

    private void bindToAddress(Builder builder) throws IOException {
        List<? extends ServerLoop> all = loops.all();
        boolean spread = builder.reusePort
                && all.size() > 1
                && System.getProperty("os.name").startsWith("Linux");
        UdpOptions options = UdpOptions.standard().withReceiveBuffer(builder.receiveBuffer);
        if (spread && builder.address.getPort() != 0) {
            // As for TCP: sockets with SO_REUSEPORT would share the port with other processes that set it.
            all.getFirst().net().udp(builder.address, options).close();
        }
        UdpSocket first = all.getFirst().net().udp(builder.address, options.withReusePort(spread));
        sockets.add(first);
        if (spread) {
            for (ServerLoop loop : all.subList(1, all.size())) {
                sockets.add(loop.net().udp(first.localAddress(), options.withReusePort(true)));
            }
        }
    }

    /** Has each socket served by a loop. */
    private void receive() {
        synchronized (sockets) {
            List<Receiver> begun = new ArrayList<>();
            try {
                for (int i = 0; i < sockets.size() && !closing.get(); i++) {
                    begun.add(new Receiver(loops.all().get(i % loops.all().size()), sockets.get(i)));
                }
            } finally {
                receivers = List.copyOf(begun);
            }
        }
    }

    private void closeUnattached() {
        synchronized (sockets) {
            sockets.subList(receivers.size(), sockets.size()).forEach(UdpSocket::close);
        }
    }

    /** One socket on its loop. */
    private final class Receiver implements DatagramSink {
        private final ServerLoop loop;
        private final DatagramTransport transport;
        /** Made by the first call, on the loop. */
        private @Nullable Datagram shown;

        Receiver(ServerLoop loop, UdpSocket socket) {
            this.loop = loop;
            this.transport = loop.attach(socket, this, maxDatagram);
        }

        @Override
        public void onDatagram(DatagramTransport from) {
            Datagram datagram = shown;
            if (datagram == null) {
                datagram = new Datagram(UdpServer.this, from);
                shown = datagram;
            }
            datagram.setValid(true);
            try {
                handler.onDatagram(datagram, from.data());
            } catch (Throwable e) {
                tell(e);
            } finally {
                datagram.setValid(false);
            }
        }

        @Override
        public void onFailed(IOException cause) {
            tell(cause);
        }

        @Override
        public void onLoopEnd() {
            // Nothing else is held.
        }

        CompletableFuture<Void> drain() {
            CompletableFuture<Void> done = new CompletableFuture<>();
            execute(
                    () -> {
                        var ignored = transport.drain().whenComplete((ended, failure) -> done.complete(null));
                    },
                    done);
            return done;
        }

        CompletableFuture<Void> closeSoon() {
            CompletableFuture<Void> done = new CompletableFuture<>();
            execute(
                    () -> {
                        transport.close();
                        done.complete(null);
                    },
                    done);
            return done;
        }

        private void execute(Runnable what, CompletableFuture<Void> otherwise) {
            try {
                loop.execute(what);
            } catch (RejectedExecutionException e) {
                otherwise.complete(null); // the loop has ended, and closed its sockets
            }
        }

        @Override
        public String toString() {
            return "UDP server with " + handler;
        }
    }

    /** Never throws. */
    private void tell(Throwable failure) {
        try {
            handler.onError(failure);
        } catch (Throwable e) {
            FailureLog.report("onError of " + handler + ", which was told of " + failure, e);
        }
    }

    /**
     * Sends a datagram to an address, for example a late answer. Its bytes are taken before this returns. On the first of
     * the server's loops it is sent at once, from elsewhere when a loop gets to it.
     *
     * @param to an address with a port
     * @param data all that remains
     * @return false if it is dropped: as many as {@link Builder#maxPending} are waiting for the loop, the system does not
     *     take any more at the moment, or the server is closed
     * @throws IllegalArgumentException if it is too long, or the address is unresolved
     */
    public boolean send(InetSocketAddress to, ByteBuffer data) {
        if (to.isUnresolved()) {
            throw new IllegalArgumentException("cannot send to " + to + ": the name is not resolved");
        }
        if (data.remaining() > maxDatagram) {
            throw new IllegalArgumentException("cannot send " + data.remaining() + " bytes to " + to
                    + ": a datagram of this server has at most " + maxDatagram);
        }
        if (closing.get() || receivers.isEmpty()) {
            return false;
        }
        Receiver first = receivers.getFirst();
        if (first.loop.inLoop()) {
            return first.transport.send(to, data);
        }
        if (pending.incrementAndGet() > maxPending) {
            pending.decrementAndGet();
            return false;
        }
        boolean handedOver = false;
        try {
            Receiver by = receivers.get(Math.floorMod(nextSender.getAndIncrement(), receivers.size()));
            ByteBuffer copy = ByteBuffer.allocate(data.remaining()).put(data).flip();
            by.loop.execute(() -> {
                pending.decrementAndGet();
                by.transport.send(to, copy);
            });
            handedOver = true;
        } catch (RejectedExecutionException e) {
            // The loop has ended.
        } finally {
            if (!handedOver) {
                pending.decrementAndGet();
            }
        }
        return handedOver;
    }

    // ---- Ending ----

    /**
     * Shuts down gracefully: shows the handler what has arrived, sends the answers, and closes the sockets. Returns at
     * the deadline at the latest, also if a handler has not returned; its socket is closed when it does. Called from a
     * handler of this server, it returns at once, and the rest follows. Any thread, any number of times.
     *
     * @param atMost how long this may take
     * @return what was left; from a handler, what is known so far
     */
    public ShutdownResult shutdown(Duration atMost) {
        Deadline deadline = Deadline.after(loops.clock(), atMost);
        boolean inside = loops.isOnOne();
        if (closing.compareAndSet(false, true)) {
            if (inside) {
                Thread.ofPlatform().daemon().name("millrace-shutdown").start(() -> end(deadline));
            } else {
                end(deadline);
            }
        } else if (!inside) {
            loops.await(deadline, result);
        }
        return result.getNow(new ShutdownResult(false, List.of(), List.of(toString())));
    }

    private void end(Deadline deadline) {
        List<String> remaining = new ArrayList<>();
        boolean drained = false;
        try {
            closeUnattached();
            drained = loops.await(
                    deadline, all(receivers.stream().map(Receiver::drain).toList()));
            if (!drained
                    && !loops.await(
                            deadline.andALittle(),
                            all(receivers.stream().map(Receiver::closeSoon).toList()))) {
                remaining.add("a handler of " + this + " that has not returned");
            }
        } finally {
            remaining.addAll(loops.endBy(deadline));
            result.complete(new ShutdownResult(drained, List.of(), remaining));
        }
    }

    private static CompletableFuture<Void> all(List<CompletableFuture<Void>> each) {
        return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new));
    }

    // ---- Changing hands ----

    /** What {@link Takeover} does with it. */
    private final class Transfer implements Takeover.Transferable {
        private final String name;

        Transfer(String name) {
            this.name = name;
        }

        @Override
        public boolean isOpen() {
            return !closing.get();
        }

        @Override
        public List<Takeover.Offer> offers() {
            List<Takeover.Offer> offers = new ArrayList<>();
            for (UdpSocket socket : sockets) {
                offers.add(new Takeover.Offer(
                        new SocketLine(SocketLine.Kind.UDP, kept, name, Takeover.text(socket.localAddress())), socket));
            }
            return offers;
        }

        @Override
        public void begin() {
            receive();
        }

        /** Shows what has arrived, as either process may, sends the answers, and closes the sockets. */
        @Override
        public void leave() {
            for (Receiver each : receivers) {
                var ignored = each.drain();
            }
        }

        @Override
        public String toString() {
            return UdpServer.this.toString();
        }
    }

    /** Shuts down gracefully within ten seconds: see {@link #shutdown}. */
    @Override
    public void close() {
        shutdown(Deadline.OF_CLOSE);
    }

    // ---- Properties ----

    /**
     * Returns the address at which the server receives.
     *
     * @return the address, with the port that the system chose if 0 was requested
     */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Returns how many loops receive.
     *
     * @return at least 1
     */
    public int loopCount() {
        return Math.min(sockets.size(), loops.all().size());
    }

    /**
     * Returns the name of the backend of its loops.
     *
     * @return a human-readable name
     */
    public String backend() {
        return loops.first().backend();
    }

    private long sum(ToLongFunction<DatagramTransport> count) {
        long sum = 0;
        for (Receiver each : receivers) {
            sum += count.applyAsLong(each.transport);
        }
        return sum;
    }

    /**
     * Returns how many datagrams were received.
     *
     * @return a count since the server was started
     */
    public long datagramsReceived() {
        return sum(DatagramTransport::received);
    }

    /**
     * Returns how many datagrams were sent.
     *
     * @return a count since the server was started, of those that the system has taken
     */
    public long datagramsSent() {
        return sum(DatagramTransport::sent);
    }

    /**
     * Returns how many datagrams were to be sent and were dropped, because the system did not take them or refused them.
     *
     * @return a count since the server was started
     */
    public long datagramsDropped() {
        return sum(DatagramTransport::dropped);
    }

    /**
     * Returns how many datagrams were longer than {@link Builder#maxDatagram}, and not shown to the handler.
     *
     * @return a count since the server was started; they are among those that were received
     */
    public long datagramsTooLong() {
        return sum(DatagramTransport::truncated);
    }

    /**
     * Returns how many bytes were received.
     *
     * @return a count since the server was started
     */
    public long bytesReceived() {
        return sum(DatagramTransport::bytesReceived);
    }

    /**
     * Returns how many bytes were sent.
     *
     * @return a count since the server was started
     */
    public long bytesSent() {
        return sum(DatagramTransport::bytesSent);
    }

    @Override
    public String toString() {
        return "UDP server on " + address + (result.isDone() ? ", closed" : closing.get() ? ", closing" : "");
    }

    /** Collects the settings of a server. */
    public static final class Builder {
        private Supplier<LoopGroup> loops = LoopGroup::global;
        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private boolean reusePort = true;
        private int maxDatagram = LONGEST;
        private int maxPending = 1024;
        private int receiveBuffer;
        private int sendBuffer;
        private List<PassedDescriptor> inherited = List.of();
        private @Nullable Takeover takeover;
        private String name = "";

        private Builder() {}

        /**
         * Sets sockets that another process opened, instead of an address: those that a service manager passed ({@link
         * Systemd#sockets()}). They belong to the server from {@link #start} on, also if that fails.
         *
         * @param passed UDP sockets; each is on one loop
         * @return this
         * @throws IllegalArgumentException if there is none, or they are of other kinds
         */
        public Builder sockets(List<PassedDescriptor> passed) {
            if (passed.isEmpty()) {
                throw new IllegalArgumentException("cannot receive on no sockets; leave the call out");
            }
            for (PassedDescriptor each : passed) {
                if (each.kind() != PassedDescriptor.Kind.UDP_SOCKET) {
                    throw new IllegalArgumentException("cannot receive on " + each + ": pass UDP sockets");
                }
            }
            address(Objects.requireNonNull(passed.getFirst().address()));
            this.inherited = List.copyOf(passed);
            return this;
        }

        /**
         * Takes over the sockets of the running process, if there is one, and hands them over to the next. The server then
         * receives once {@link Takeover#complete} was called, and not from {@link #start} on. No datagram is lost: what
         * arrives meanwhile waits in the sockets.
         *
         * @param from begun
         * @param server the name by which the predecessor and the successor call the same server
         * @return this
         * @throws IllegalArgumentException if the name has other characters than letters, digits, dots, hyphens and
         *     underscores, or is longer than 64
         */
        public Builder takeover(Takeover from, String server) {
            SocketLine.requireName(server);
            this.takeover = Objects.requireNonNull(from, "from");
            this.name = server;
            return this;
        }

        /**
         * Sets the address to receive at.
         *
         * @param local any free port of the loopback interface by default
         * @return this
         */
        public Builder address(InetSocketAddress local) {
            this.address = Objects.requireNonNull(local, "local");
            return this;
        }

        /**
         * Sets the reactors to run on. They stay open when the server is closed. Of this and the other ways to say where
         * it runs, the last call counts.
         *
         * @param shared the global manager by default
         * @return this
         */
        public Builder manager(Reactors shared) {
            Objects.requireNonNull(shared, "shared");
            this.loops = () -> LoopGroup.of(shared);
            return this;
        }

        /**
         * Runs the server on an event loop, which a thread of yours must run, and which stays open.
         *
         * @param shared an open loop
         * @return this
         */
        public Builder loop(EventLoop shared) {
            Objects.requireNonNull(shared, "shared");
            this.loops = () -> LoopGroup.of(shared);
            return this;
        }

        /**
         * Gives the server its own reactors, which end with it.
         *
         * @param reactors the number of reactors, their backend, and so on
         * @return this
         */
        public Builder reactors(Reactors.Builder reactors) {
            Objects.requireNonNull(reactors, "reactors");
            this.loops = () -> LoopGroup.owned(reactors.open());
            return this;
        }

        /**
         * Sets whether each loop has its own socket, if the kernel can distribute senders over them.
         *
         * @param spread true by default; if false, the first loop receives everything
         * @return this
         */
        public Builder reusePort(boolean spread) {
            this.reusePort = spread;
            return this;
        }

        /**
         * Limits how many bytes a datagram may have, in either direction. Longer ones that are received are counted and
         * not shown. Each loop holds 64 times this much memory.
         *
         * @param bytes 65,507 by default, the most that IPv4 can carry; 1,472 fit into one packet of Ethernet
         * @return this
         */
        public Builder maxDatagram(int bytes) {
            this.maxDatagram = ServerSettings.inRange("the length of a datagram", bytes, 1, 65_535);
            return this;
        }

        /**
         * Limits how many datagrams that other threads {@linkplain UdpServer#send send} may wait for a loop.
         *
         * @param count 1,024 by default
         * @return this
         */
        public Builder maxPending(int count) {
            this.maxPending = ServerSettings.inRange("the number of pending datagrams", count, 1, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Sets the size of each socket's receive buffer in the system (SO_RCVBUF): datagrams that do not fit are lost.
         *
         * @param bytes 0 by default, for the system's own size; the system may reduce it
         * @return this
         */
        public Builder receiveBuffer(int bytes) {
            this.receiveBuffer = ServerSettings.inRange("the receive buffer", bytes, 0, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Sets the size of each socket's send buffer in the system (SO_SNDBUF).
         *
         * @param bytes 0 by default, for the system's own size; the system may reduce it
         * @return this
         */
        public Builder sendBuffer(int bytes) {
            this.sendBuffer = ServerSettings.inRange("the send buffer", bytes, 0, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Starts the server.
         *
         * @param handler called for every datagram
         * @return a server, which the caller must close
         * @throws IOException if it cannot receive there, for example because the port is taken
         */
        public UdpServer start(DatagramHandler handler) throws IOException {
            return new UdpServer(this, Objects.requireNonNull(handler, "handler"));
        }
    }
}
