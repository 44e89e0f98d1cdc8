/**
 * Programs that stand beside each other in a measurement: echo servers on Netty and on java.nio, a server of a file on Millrace, and a load generator for machines without a C compiler.
 *
 * <p>Each has a {@code main} and runs in a JVM of its own. A server prints one line, {@code listening on 127.0.0.1:PORT (WHAT)}, and ends on SIGTERM. None of the others uses Millrace.
 */
package io.millrace.bench.peers;
