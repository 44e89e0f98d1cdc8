/**
 * TLS for servers and clients.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.tls.Tls}, the settings; {@link
 * io.millrace.server.tls.TlsWatch}, which reloads their files; {@link
 * io.millrace.server.tls.TlsSession}, what a connection has agreed on; {@link
 * io.millrace.server.tls.TlsTruncatedException}. What works for them is in {@code io.millrace.server.secure}.
 *
 * <p><b>Who may call it.</b> Everyone.
 */
package io.millrace.server.tls;
