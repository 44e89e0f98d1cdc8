package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.net.KeepAlive;
import io.millrace.server.group.LoopGroup;
import io.millrace.server.support.ServerSettings;
import io.millrace.server.tls.Tls;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings that servers and clients share: where they run, and what their connections are like.
 *
 * @param <B> the builder itself
 */
public abstract sealed class ConnectionBuilder<B extends ConnectionBuilder<B>>
        permits TcpServer.Builder, TcpClient.Builder {
    final ServerSettings settings = new ServerSettings();
    Supplier<LoopGroup> loops = LoopGroup::global;

    ConnectionBuilder() {}

    /** Returns this. */
    abstract B self();

    /**
     * Sets the manager to run on. It stays open when the server or client is closed. If several of {@code manager},
     * {@link #loop} and {@link TcpServer.Builder#reactors} are called, the last call counts.
     *
     * @param shared the global manager by default; one with descriptors, which may be yours
     * @return this
     */
    public B manager(EventManager shared) {
        Objects.requireNonNull(shared, "shared");
        this.loops = () -> LoopGroup.of(shared);
        return self();
    }

    /**
     * Runs the server or client on an event loop, beside its sources: connections are opened and served by the thread
     * that runs the loop. The loop stays open when the server or client is closed. If several of {@link #manager},
     * {@code loop} and {@link TcpServer.Builder#reactors} are called, the last call counts.
     *
     * <p>A thread of yours must run the loop. Until then no connection is opened, and {@link TcpServer#shutdown} waits
     * for its deadline; but if the thread that last ran the loop calls it, that thread runs the loop while it waits.
     * Callbacks run where {@link #dispatch} says, by default on the loop, and not where the event loop's own handlers
     * are called.
     *
     * @param shared an open loop
     * @return this
     */
    public B loop(EventLoop shared) {
        Objects.requireNonNull(shared, "shared");
        this.loops = () -> LoopGroup.of(shared);
        return self();
    }

    /**
     * Sets how many bytes {@code onData} gets at most.
     *
     * @param bytes by default 262,144 if callbacks run on a loop of {@link Reactors}, whose connections share one
     *     buffer; otherwise 8,192
     * @return this
     */
    public B bufferSize(int bytes) {
        settings.setBufferSize(bytes);
        return self();
    }

    /**
     * Sets how many bytes may wait to be sent on a connection.
     *
     * @param low when no more than this is waiting, {@code onWritable} is called; 32 KiB by default
     * @param high while more than this is waiting, the connection is not read, and {@code send} says so; 64 KiB by
     *     default
     * @param limit if more than this is waiting, a send is refused and the connection is closed; 64 MiB by default.
     *     Until the loop has taken over a send from another thread, it counts 128 bytes more than it has, so that
     *     many small sends are bounded too
     * @return this
     */
    public B waterMarks(long low, long high, long limit) {
        settings.setWaterMarks(low, high, limit);
        return self();
    }

    /**
     * Limits how much may wait to be sent on all connections together, so that peers that do not read cannot fill
     * the heap. Above the limit, the connection that holds most is closed, and its {@code onError} is called.
     * Connections with less than 4 KiB waiting do not count. Bytes that connections share, such as those of a
     * broadcast, count for each of them.
     *
     * @param bytes a quarter of the maximum heap by default
     * @param files how many open files may wait; by default a quarter of the files that the process may have open,
     *     and at most 1,024
     * @return this
     */
    public B budget(long bytes, int files) {
        settings.setBudget(bytes, files);
        return self();
    }

    /**
     * Sets whether small writes go out at once (TCP_NODELAY).
     *
     * @param on true by default
     * @return this
     */
    public B noDelay(boolean on) {
        settings.setNoDelay(on);
        return self();
    }

    /**
     * Sets when the system checks whether a silent peer is still there.
     *
     * @param times after 60 s by default; null for never
     * @return this
     */
    public B keepAlive(@Nullable KeepAlive times) {
        settings.setKeepAlive(times);
        return self();
    }

    /**
     * Sets the size of each connection's send buffer in the system (SO_SNDBUF). What does not fit into it waits in
     * the connection's queue, and counts towards {@link #waterMarks}.
     *
     * @param bytes 0 by default, for the system's own size, which grows as needed; the system may reduce it
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public B sendBuffer(int bytes) {
        settings.setSendBuffer(bytes);
        return self();
    }

    /**
     * Sets the size of each connection's receive buffer in the system (SO_RCVBUF): how much a peer may send before
     * it is read. A client sets it before its first packet, which announces it to the peer.
     *
     * @param bytes 0 by default, for the system's own size, which grows as needed; the system may reduce it
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public B receiveBuffer(int bytes) {
        settings.setReceiveBuffer(bytes);
        return self();
    }

    /**
     * Sets how routers are asked to treat the packets: the octet of IPv4's type of service (IP_TOS) or of IPv6's traffic class (IPV6_TCLASS). Its upper six bits
     * are the code point of DiffServ; the lower two belong to congestion control, and most systems keep their own.
     *
     * @param octet 0 by default
     * @return this
     * @throws IllegalArgumentException if it is not from 0 to 255
     */
    public B trafficClass(int octet) {
        settings.setTrafficClass(octet);
        return self();
    }

    /**
     * Sets what closing a connection does with bytes that the system has not sent yet (SO_LINGER). With null, the
     * system sends them in the background. With zero they are discarded, and the peer gets a reset. With a longer
     * time, closing <em>blocks</em> the loop until they are sent; use this only if a loop serves a single peer.
     *
     * @param time null by default; rounded up to seconds
     * @return this
     * @throws IllegalArgumentException if it is negative or above 65,535 seconds
     */
    public B linger(@Nullable Duration time) {
        settings.setLinger(time);
        return self();
    }

    /**
     * Sets after which time without received or sent bytes a connection is closed.
     *
     * @param timeout zero, which means never, by default
     * @return this
     */
    public B idleTimeout(Duration timeout) {
        settings.setIdleTimeout(timeout);
        return self();
    }

    /**
     * Sets after which time without received bytes a connection is closed, no matter what is sent to it: see {@link
     * ConnectionHandler#onIdle}.
     *
     * @param timeout zero, which means never, by default
     * @return this
     */
    public B readIdleTimeout(Duration timeout) {
        settings.setReadIdleTimeout(timeout);
        return self();
    }

    /**
     * Sets after which time without sent bytes {@link ConnectionHandler#onIdle} is called, no matter what is
     * received; by default that closes the connection.
     *
     * @param timeout zero, which means never, by default
     * @return this
     */
    public B writeIdleTimeout(Duration timeout) {
        settings.setWriteIdleTimeout(timeout);
        return self();
    }

    /**
     * Sets whether a connection is read while more than the high-water mark is waiting to be sent on it.
     *
     * @param read of a server false by default, so that a peer that does not read cannot make the queue grow by
     *     sending requests. With true, a peer that sends a lot before it reads is served without a stall, and what its
     *     requests make you send is bounded by the limit only; your handler must then stop by itself, for example with
     *     {@link Connection#pauseReads}. Of a client true by default: if it sends a lot to a peer that answers
     *     meanwhile, it must read the answers, or both would wait for each other
     * @return this
     */
    public B readWhileFull(boolean read) {
        settings.readWhileFull = read;
        return self();
    }

    /**
     * Sets after which time a connection is closed whose peer does not take any of the bytes that are waiting.
     *
     * @param timeout 30 s by default; zero for never
     * @return this
     */
    public B writeTimeout(Duration timeout) {
        settings.setWriteTimeout(timeout);
        return self();
    }

    /**
     * Encrypts the connections with TLS. Handlers are told of a connection when its handshake is complete; everything
     * else is as without TLS. What was agreed: see {@link Connection#tls}.
     *
     * @param settings none by default; a server's need a certificate
     * @return this
     * @throws IllegalArgumentException if a server's have none
     */
    public B tls(Tls settings) {
        this.settings.tls = Objects.requireNonNull(settings, "settings");
        return self();
    }

    /**
     * Sets where callbacks run.
     *
     * @param mode on the connection's loop by default
     * @param workers the number of threads with {@link Dispatch#POOL}
     * @return this
     */
    public B dispatch(Dispatch mode, int workers) {
        settings.setDispatch(mode, workers);
        return self();
    }

    /**
     * Sets whether virtual threads run on the threads of the loops: those of a {@link DirectServer}, and with {@link
     * Dispatch#VIRTUAL}. The JVM must allow it, too: see {@link io.millrace.engine.VirtualThreadReport}.
     *
     * @param on true by default; with false they run on the JDK's scheduler, which also compensates for calls that
     *     block a thread, such as reads of files
     * @return this
     */
    public B loopThreads(boolean on) {
        settings.loopThreads = on;
        return self();
    }
}
