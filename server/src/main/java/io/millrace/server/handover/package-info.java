/**
 * The conversation in which one process hands its listening sockets over to the next.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.handover.HandoverTalk}, one end of it, and {@link
 * io.millrace.server.handover.SocketLine}, the description of a socket. Who says what, and what follows from it, is in
 * {@code Takeover}.
 *
 * <p><b>Who may call it.</b> The server's own package.
 *
 * <p><b>What it may call.</b> {@code net} and {@code poll}.
 */
package io.millrace.server.handover;
