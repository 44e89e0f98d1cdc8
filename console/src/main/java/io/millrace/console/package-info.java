/**
 * A web console for servers and clients, with metrics and health beside it.
 *
 * <p><b>What lives here.</b> {@link io.millrace.console.Console} listens with the JDK's HTTP server, on threads of its
 * own. {@code Guard} decides which requests are answered. {@code Views} turns what is observed into {@code Json};
 * {@code OpenMetrics} turns it into text for Prometheus. {@code Top} shows the overview in a terminal. The page itself is
 * one file each of HTML, CSS and JavaScript among the resources.
 *
 * <p><b>Who may call it.</b> Users and the command-line program. <b>What it may call.</b> The public views of {@code
 * engine} and {@code server}: it sees nothing that a program could not see itself.
 */
package io.millrace.console;
