/**
 * The programs with which Millrace is compared: echo servers on Netty and on {@code java.nio}; and a file server on
 * Millrace, and a load generator for machines without a C compiler.
 *
 * <p><b>What lives here.</b> Each program has a {@code main} and runs in a separate JVM. A server prints one line,
 * {@code listening on 127.0.0.1:PORT (WHAT)}, and ends on SIGTERM.
 *
 * <p><b>Who may call it.</b> {@code runner}, which starts them as processes.
 *
 * <p><b>What it may call.</b> The JDK and Netty. Only the file server uses Millrace.
 */
package io.millrace.bench.peers;
