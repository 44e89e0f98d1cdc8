/**
 * The programs with which Millrace is compared: echo servers on Netty and on {@code java.nio}, a chat on Netty over Redis or
 * NATS; and a file server and a chat of many rooms on Millrace, and a load generator for machines without a C compiler.
 *
 * <p><b>What lives here.</b> Each program has a {@code main} and runs in a separate JVM. A server prints one line,
 * {@code listening on 127.0.0.1:PORT (WHAT)}, and ends on SIGTERM.
 *
 * <p><b>Who may call it.</b> {@code runner}, which starts them as processes.
 *
 * <p><b>What it may call.</b> The JDK, Netty, Lettuce and jnats. Only the file server and the chat of many rooms use Millrace.
 */
package io.millrace.bench.peers;
