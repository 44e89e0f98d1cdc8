/**
 * How TLS works, over the JDK's {@link javax.net.ssl.SSLEngine}.
 *
 * <p><b>What lives here.</b> {@link io.millrace.server.secure.TlsTransport} sits between a connection and its
 * transport. {@link io.millrace.server.secure.TlsSettings} makes the engines, from {@link
 * io.millrace.server.secure.TlsOptions} and from what {@code PemFile} and {@code KeyStoreFile} read; {@link
 * io.millrace.server.secure.CertificateWatch} has them read again; {@code CertificateChooser} picks the certificate for the name that a client asks for. {@code HandshakeGate} is where handshakes are computed, and {@code
 * LoopBuffers} are what the connections of a loop share.
 *
 * <p><b>Who may call it.</b> {@code connection}, {@code tls} and the builders. <b>What it may call.</b> {@code support},
 * the public types of the module, and {@code engine} and {@code net}.
 */
package io.millrace.server.secure;
