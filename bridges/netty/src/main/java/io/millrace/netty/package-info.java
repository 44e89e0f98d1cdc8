/**
 * Netty 4.2 on Millrace's loops: {@link io.millrace.netty.Millrace} has the ways in, the {@code Millrace…Channel}
 * classes are the channels to bootstrap with.
 *
 * <p>Who lives here, from the outside in: the channels ({@code MillraceChannel} and below it streams, listeners and
 * datagrams), which Netty calls; their configurations; and two kinds of loop that watch their sockets, {@code
 * MillraceIoHandler} on a thread of Netty's and {@code ReactorEventLoop} on a reactor's. The channels know neither: they
 * say what they want by {@code ReadinessOps} and are told by a {@code ReadinessEvent}.
 *
 * <p>This calls {@code sys} for sockets, {@code poll} to wait, and {@code engine.transport} for reactors. Nothing of the
 * core calls it.
 */
package io.millrace.netty;
