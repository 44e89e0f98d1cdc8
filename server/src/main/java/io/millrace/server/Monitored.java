package io.millrace.server;

import java.util.List;
import java.util.Optional;

/**
 * What every server and client tells about itself, no matter who opened its loops: counters, connections one by one,
 * and what it is waiting for.
 *
 * <p>Nothing is recorded for this. A call reads the fields of the loops and connections at that moment, so it costs
 * nothing while nobody asks, and it can neither miss nor invent anything. The values are not of one moment.
 *
 * <p><b>Threads.</b> Any thread may call. No call takes a lock that a loop or handler could hold, or waits for a loop;
 * so this works while every loop is blocked.
 */
public sealed interface Monitored permits TcpServer, TcpClient, DirectServer, DirectClient {
    /**
     * Returns its counters, and those of its loops.
     *
     * @return a view that reads the current values at each call
     */
    ServerMetrics metrics();

    /**
     * Describes what it is doing, in several lines: its counters, what each of its loops is doing, the connections that
     * have most waiting to be sent, and what keeps it from shutting down.
     *
     * @return text for people
     */
    String dump();

    /**
     * Returns all its connections as they are now. With 10,000 connections this takes some milliseconds of the calling
     * thread. {@link ConnectionSnapshot#localAddress} is known only if it was asked for before.
     *
     * @return in no particular order, including those that are being opened or closed
     */
    List<ConnectionSnapshot> connections();

    /**
     * Returns one connection as it is now, with its local address.
     *
     * @param id its {@link Connection#id}
     * @return empty if there is none, or if it has ended
     */
    Optional<ConnectionSnapshot> connection(long id);

    /**
     * Returns whether it takes new connections, or makes them.
     *
     * @return false once it is being shut down or closed
     */
    boolean isOpen();

    /**
     * Returns what a shutdown waits for, or would wait for if it were called now.
     *
     * @return a human-readable line about each, at most 1,000; empty if nothing
     */
    List<String> remaining();

    /**
     * Returns the connections, to send to and to close.
     *
     * @return by id
     */
    ServerContext context();
}
