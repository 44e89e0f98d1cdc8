package io.millrace.server;

import io.millrace.engine.internal.FailureLog;
import io.millrace.net.Net;
import io.millrace.net.PassedDescriptor;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixListenOptions;
import io.millrace.net.UnixListener;
import io.millrace.net.UnixPeer;
import io.millrace.net.UnixStream;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Source;
import io.millrace.server.group.LoopGroup;
import io.millrace.server.handover.HandoverTalk;
import io.millrace.server.handover.HandoverTalk.Handed;
import io.millrace.server.handover.SocketLine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A restart without a refused or reset connection: the new process takes the listening sockets over from the one that is
 * running, which then serves the connections that it has until they end.
 *
 * {@snippet :
 * try (Takeover takeover = Takeover.begin(path)) {
 *     TcpServer server = TcpServer.builder()
 *             .address(address)
 *             .takeover(takeover, "web") // listens there, or takes over what the predecessor calls by this name
 *             .start(handler);
 *     takeover.complete(); // from here on, this process accepts, and the predecessor does not
 *     takeover.handedOver().join(); // until there is a successor
 *     server.drained().orTimeout(30, TimeUnit.SECONDS).exceptionally(late -> null).join();
 *     server.close();
 * }
 * }
 *
 * <p><b>How.</b> Each process listens at the same Unix socket for its successor, which connects there and gets the
 * listening sockets themselves, not only their addresses (SCM_RIGHTS). So there is one queue of waiting connections all
 * the time, and it is never closed:
 *
 * <ol>
 *   <li>{@link #begin} gets the sockets. The predecessor goes on accepting.
 *   <li>The servers of the successor are started. They do not accept yet: if one of them cannot start, nothing has
 *       happened.
 *   <li>{@link #complete} says that all are ready. The predecessor stops accepting, and says so; whoever connects in this
 *       moment waits. The successor accepts.
 * </ol>
 *
 * <p>A successor that fails or dies before it has said that it is ready changes nothing: the predecessor goes on, and can be
 * taken over by another one. If the predecessor dies, the successor goes on.
 *
 * <p><b>What is not handed over.</b> Connections that are established stay with their process, and so does everything in
 * its memory. Give them time to end ({@link TcpServer#drained()}).
 *
 * <p><b>Who may.</b> The socket's file is for its user alone (mode 600), and the kernel is asked who connects: only the same
 * user and root are served, and others are logged. Equally, sockets are only taken from the same user or root. Choose a
 * directory in which others cannot put a file.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@link #begin} and {@link #complete} wait for the other process and
 * must not be called on a loop or a virtual thread. One thread, which mostly sleeps, waits for the successor, so that it is
 * served even if all loops are blocked.
 *
 * <h2>Portability</h2>
 * Needs a native backend.
 */
public final class Takeover implements AutoCloseable {
    /** A server whose sockets can be handed over. */
    interface Transferable {
        boolean isOpen();

        /** Returns its sockets with their descriptions. */
        List<Offer> offers();

        /** Begins to accept: it is its turn. */
        void begin() throws IOException;

        /** Stops accepting, and leaves what waits to the successor. Does not wait. */
        void leave();
    }

    record Offer(SocketLine line, Source socket) {}

    private static final int VERSION = 1;
    private static final Pattern HELLO = Pattern.compile("millrace-takeover (\\d{1,9}) (\\d{1,18})(?: (\\d{1,9}))?");
    private static final String READY = "ready";
    private static final String YOURS = "yours";
    /** The name of the socket at which successors are awaited. */
    private static final String OWN = "takeover";

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** How long a predecessor may be busy with another successor, or begin itself. */
    private static final Duration QUEUE = Duration.ofSeconds(60);
    /** How long a successor may take from the sockets to its readiness. */
    private static final Duration START = Duration.ofSeconds(30);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final UnixAddress address;
    private final Duration start;
    private final @Nullable HandoverTalk talk;
    private final long predecessor;
    /** What was passed and not claimed, by the names of the servers. Guarded by this. */
    private final Map<String, List<Handed>> passed;
    /** Guarded by this. */
    private final Map<String, Transferable> servers = new LinkedHashMap<>();

    private @Nullable UnixListener listener;
    private boolean completed;
    private boolean closed;
    private @Nullable HandoverTalk withSuccessor;

    private final CompletableFuture<Long> handedOver = new CompletableFuture<>();

    private Takeover(
            UnixAddress address,
            Duration start,
            @Nullable UnixListener listener,
            @Nullable HandoverTalk talk,
            long predecessor,
            Map<String, List<Handed>> passed) {
        this.address = address;
        this.start = start;
        this.listener = listener;
        this.talk = talk;
        this.predecessor = predecessor;
        this.passed = passed;
    }

    // ---- The successor's side ----

    /**
     * Gets the listening sockets of the process that listens at a path, which goes on accepting; without such a process,
     * listens there itself. If it is being taken over by another process, or starting, this waits for up to a minute.
     *
     * @param path of a Unix socket, the same for all processes that take over from each other
     * @return to be given to the builders of servers, then completed; the caller must close it
     * @throws IOException if the predecessor does not hand over its sockets, does not belong to this user or root, or if the
     *     path cannot be used. The predecessor goes on as before
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static Takeover begin(Path path) throws IOException {
        return begin(path, START);
    }

    static Takeover begin(Path path, Duration start) throws IOException {
        UnixAddress address = UnixAddress.of(path);
        UnixStream stream;
        try {
            stream = Net.natively().connect(address);
        } catch (ConnectException e) {
            // Nobody is there; or it finds out why not.
            UnixListenOptions options = UnixListenOptions.standard()
                    .withPermissions(PosixFilePermissions.fromString("rw-------"))
                    .withReplaceStale(true);
            UnixListener listener = Net.natively().listen(address, options);
            return new Takeover(address, start, listener, null, -1, new LinkedHashMap<>());
        }
        HandoverTalk talk = new HandoverTalk(stream);
        Map<String, List<Handed>> passed = new LinkedHashMap<>();
        boolean done = false;
        try {
            requireTrusted(talk);
            talk.say(hello(), PATIENCE);
            Matcher hello = hello(talk.hear(QUEUE));
            int sockets = Integer.parseInt(Objects.requireNonNullElse(hello.group(3), "0"));
            for (int i = 0; i < sockets; i++) {
                Handed handed = talk.hearSocket(PATIENCE);
                passed.computeIfAbsent(handed.line().server(), name -> new ArrayList<>())
                        .add(handed);
            }
            if (passed.getOrDefault(OWN, List.of()).size() != 1) {
                throw new IOException("it did not pass the socket at which it was reached");
            }
            done = true;
            return new Takeover(address, start, null, talk, Long.parseLong(hello.group(2)), passed);
        } catch (IOException e) {
            throw new IOException(
                    "cannot take over from the process at " + address + ": " + e.getMessage()
                            + "; if it is not the one to take over from, choose another path",
                    e);
        } finally {
            if (!done) {
                close(passed);
                talk.close();
            }
        }
    }

    private static void requireTrusted(HandoverTalk talk) throws IOException {
        UnixPeer peer = talk.peer();
        if (!peer.isSameUserOrRoot()) {
            throw new IOException("it belongs to user " + peer.uid() + ", neither this user nor root");
        }
    }

    private static String hello() {
        return "millrace-takeover " + VERSION + " " + ProcessHandle.current().pid();
    }

    private static Matcher hello(@Nullable String line) throws IOException {
        if (line == null) {
            throw new IOException("it ended the conversation at once; its log may tell why");
        }
        Matcher matcher = HELLO.matcher(line);
        if (!matcher.matches()) {
            throw new IOException("it does not speak the protocol of takeovers: “" + line + "”");
        }
        if (!matcher.group(1).equals(Integer.toString(VERSION))) {
            throw new IOException(
                    "it speaks version " + matcher.group(1) + " of the protocol of takeovers, and this one " + VERSION);
        }
        return matcher;
    }

    /**
     * Returns the process from which sockets are taken over.
     *
     * @return its id, as it says itself; empty if there is none
     */
    public OptionalLong predecessor() {
        return talk == null ? OptionalLong.empty() : OptionalLong.of(predecessor);
    }

    /**
     * Takes what was passed for a server.
     *
     * @param fits whether a socket is at the address where the server is to listen; true of one is enough
     * @return empty if there is no predecessor
     */
    synchronized List<Handed> claim(String name, SocketLine.Kind kind, Object wanted, Predicate<Handed> fits)
            throws IOException {
        SocketLine.requireName(name);
        if (completed || closed || servers.containsKey(name) || name.equals(OWN)) {
            throw new IllegalStateException("cannot start a server as “" + name + "” of " + this
                    + (completed || closed
                            ? ": it is too late; start all servers before complete()"
                            : ": the name is taken; each server needs its own"));
        }
        if (talk == null) {
            return List.of();
        }
        List<Handed> mine = passed.getOrDefault(name, List.of());
        if (mine.stream().noneMatch(each -> each.line().kind() == kind && fits.test(each))) {
            throw new IOException("cannot take over “" + name + "” at " + wanted + " from process " + predecessor + ": "
                    + (mine.isEmpty() ? "it has no server of that name" : "that listens at " + places(mine))
                    + ", but has "
                    + places(passed.values().stream().flatMap(List::stream).toList())
                    + "; use the same name and address, or stop that process first");
        }
        passed.remove(name);
        return mine;
    }

    private static String places(List<Handed> handed) {
        return String.join(
                ", ",
                handed.stream()
                        .map(Handed::line)
                        .filter(line -> !line.server().equals(OWN))
                        .map(line -> "“" + line.server() + "” at " + line.address())
                        .distinct()
                        .toList());
    }

    /** Returns whether a server that is to listen at an address may do so on a socket that is at another; port 0 is any. */
    static boolean isAt(InetSocketAddress wanted, @Nullable InetSocketAddress there) {
        return there != null
                && (wanted.getPort() == 0 || wanted.getPort() == there.getPort())
                && (wanted.getAddress().equals(there.getAddress())
                        || (wanted.getAddress().isAnyLocalAddress()
                                && there.getAddress().isAnyLocalAddress()));
    }

    static void requireDescriptors(LoopGroup loops, PassedDescriptor passed) throws IOException {
        if (!loops.first().net().equals(Net.natively())) {
            throw new IOException("cannot use " + passed + " with backend "
                    + loops.first().backend() + ", which has no descriptors; use epoll, kqueue or poll");
        }
    }

    /** Returns an address as people write it. */
    static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    /** Adds a server that has started, and will accept when it is told to. */
    synchronized void add(String name, Transferable server) {
        servers.put(name, server);
    }

    /**
     * Says that everything is ready: from here on the servers of this process accept, and no longer those of the
     * predecessor. Then waits, on a thread of its own, for a successor.
     *
     * @throws IOException if the predecessor has something that no server here has taken over, or no longer waits for this
     *     process. It goes on as before, and nothing was accepted here: close the servers
     * @throws IllegalStateException if it was called before, or after close
     */
    public synchronized void complete() throws IOException {
        if (completed || closed) {
            throw new IllegalStateException("cannot complete " + this + " again, or after close");
        }
        if (talk != null) {
            Handed own = Objects.requireNonNull(passed.remove(OWN)).getFirst();
            listener = own.socket().unixListener(address);
            if (!passed.isEmpty()) {
                throw new IOException(
                        "cannot take over from process " + predecessor + ": it has "
                                + places(passed.values().stream()
                                        .flatMap(List::stream)
                                        .toList())
                                + ", which nothing in this process takes over; start a server for it, or stop that process first");
            }
            awaitYours(talk);
            listener.removeFileOnClose(!own.line().kept());
            talk.close();
        }
        completed = true;
        for (Transferable server : servers.values()) {
            server.begin();
        }
        UnixListener at = Objects.requireNonNull(listener);
        Thread.ofPlatform().daemon().name("millrace-takeover").start(() -> awaitSuccessors(at));
    }

    /**
     * Waits for the answer, which comes within the time that the predecessor gives us, unless it has died or hangs. Then this
     * process goes on: if the other one ever gets to it, it will find that it was told.
     */
    private void awaitYours(HandoverTalk with) throws IOException {
        try {
            with.say(READY, PATIENCE);
        } catch (IOException e) {
            System.getLogger("io.millrace").log(System.Logger.Level.DEBUG, "the predecessor has closed", e);
        }
        try {
            with.hear(QUEUE);
        } catch (HandoverTalk.RefusedException e) {
            throw new IOException(
                    "cannot take over from process " + predecessor + ", which goes on: " + e.getMessage(), e);
        } catch (IOException e) {
            System.getLogger("io.millrace").log(System.Logger.Level.DEBUG, "the predecessor has ended", e);
        }
    }

    // ---- The predecessor's side ----

    private void awaitSuccessors(UnixListener at) {
        while (!handedOver.isDone()) {
            try {
                Notifier.waitFor(at, Interest.READABLE, null);
            } catch (UncheckedIOException e) {
                return; // closed
            }
            try (UnixStream stream = at.accept()) {
                if (stream != null) {
                    talkTo(stream);
                }
            } catch (IOException | RuntimeException e) {
                if (isClosed()) {
                    return;
                }
                FailureLog.warn("no takeover at " + address + ": " + e.getMessage() + "; this process goes on");
                LockSupport.parkNanos(RETRY_NANOS); // there may be no descriptor for it
            }
        }
    }

    private void talkTo(UnixStream stream) throws IOException {
        try (HandoverTalk to = new HandoverTalk(stream)) {
            synchronized (this) {
                withSuccessor = to;
            }
            UnixPeer peer = to.peer();
            if (!peer.isSameUserOrRoot()) {
                to.refuse("you are user " + peer.uid() + ", and only the user of this process or root may take over");
                throw new IOException("user " + peer.uid() + " (process " + peer.pid() + ") may not");
            }
            try {
                handOver(to, peer);
            } catch (IOException | RuntimeException e) {
                to.refuse(String.valueOf(e.getMessage()));
                throw e;
            }
        } finally {
            synchronized (this) {
                withSuccessor = null;
            }
        }
    }

    private void handOver(HandoverTalk to, UnixPeer peer) throws IOException {
        Matcher hello = hello(to.hear(PATIENCE));
        long pid = peer.pid() > 0 ? peer.pid() : Long.parseLong(hello.group(2));
        UnixListener own = Objects.requireNonNull(listener);
        List<Transferable> handed;
        synchronized (this) {
            handed = servers.values().stream().filter(Transferable::isOpen).toList();
            if (handed.isEmpty() && !servers.isEmpty()) {
                throw new IOException("this process is shutting down; start again when it has ended");
            }
        }
        List<Offer> offers = new ArrayList<>();
        offers.add(new Offer(new SocketLine(SocketLine.Kind.UNIX, false, OWN, address.toString()), own));
        handed.forEach(server -> offers.addAll(server.offers()));
        to.say(hello() + " " + offers.size(), PATIENCE);
        for (Offer offer : offers) {
            to.say(offer.line().toString(), offer.socket(), PATIENCE);
        }
        awaitReady(to, pid);
        // From here on it has them: nothing may fail.
        handed.forEach(Takeover::leave);
        own.removeFileOnClose(false);
        try {
            to.say(YOURS, PATIENCE);
        } catch (IOException e) {
            FailureLog.warn("handed over to process " + pid + ", which is gone: " + e.getMessage());
        }
        own.close();
        handedOver.complete(pid);
    }

    private void awaitReady(HandoverTalk to, long pid) throws IOException {
        String why;
        try {
            String answer = to.hear(start);
            if (READY.equals(answer)) {
                return;
            }
            why = answer == null ? "it ended" : "it said “" + answer + "”";
        } catch (IOException e) {
            why = e.getMessage();
        }
        throw new IOException("process " + pid + " did not become ready: " + why);
    }

    private static void leave(Transferable server) {
        try {
            server.leave();
        } catch (Throwable e) {
            FailureLog.report(server, e);
        }
    }

    /**
     * Returns when a successor has taken over: the servers of this process accept nothing more, and go on with the
     * connections that they have. They are to be closed, after some time to {@linkplain TcpServer#drained() drain}.
     *
     * @return completes with the id of the successor's process; never, if there is none
     */
    public CompletableFuture<Long> handedOver() {
        return handedOver.copy();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /**
     * Waits for no successor any more; and if it is not complete, gives up, so that the predecessor goes on. Servers stay
     * open. Idempotent.
     */
    @Override
    public void close() {
        UnixListener listening;
        HandoverTalk talking;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            listening = listener;
            talking = withSuccessor;
            close(passed);
        }
        if (listening != null) {
            listening.close();
        }
        if (talking != null) {
            talking.interrupt();
        }
        if (talk != null) {
            talk.close();
        }
    }

    private static void close(Map<String, List<Handed>> passed) {
        passed.values().forEach(each -> each.forEach(handed -> handed.socket().close()));
        passed.clear();
    }

    @Override
    public String toString() {
        return "takeover at " + address
                + (talk == null ? "" : " from process " + predecessor)
                + (handedOver.isDone() ? ", handed over" : "");
    }
}
