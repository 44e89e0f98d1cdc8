package io.millrace.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * A socket of the JDK with TLS over a plain one that is connected. It behaves as a plain one does: with a linger of
 * zero its end is a reset, and otherwise one that was announced.
 */
final class TlsSocket extends Socket {
    private static final SSLContext CONTEXT = TestCertificates.shared().context("ec");

    private final Socket plain;
    private final SSLSocket secure;
    private boolean resets;
    private volatile boolean outputEnded;

    private TlsSocket(Socket plain, boolean client) throws IOException {
        this.plain = plain;
        this.secure = (SSLSocket) CONTEXT.getSocketFactory().createSocket(plain, "localhost", plain.getPort(), false);
        secure.setUseClientMode(client);
        secure.setEnabledProtocols(new String[] {"TLSv1.3"});
        secure.startHandshake();
    }

    static TlsSocket client(Socket connected) throws IOException {
        return new TlsSocket(connected, true);
    }

    static TlsSocket server(Socket accepted) throws IOException {
        return new TlsSocket(accepted, false);
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return secure.getInputStream();
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return secure.getOutputStream();
    }

    @Override
    public void setSoLinger(boolean on, int seconds) {
        resets = on && seconds == 0;
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        secure.setSoTimeout(millis);
    }

    @Override
    public void shutdownOutput() throws IOException {
        outputEnded = true;
        secure.shutdownOutput();
    }

    @Override
    public boolean isOutputShutdown() {
        return outputEnded;
    }

    @Override
    public int getLocalPort() {
        return plain.getLocalPort();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return plain.getLocalSocketAddress();
    }

    @Override
    public boolean isClosed() {
        return plain.isClosed();
    }

    @Override
    public void close() throws IOException {
        if (plain.isClosed()) {
            return;
        }
        if (resets) {
            plain.setSoLinger(true, 0);
        } else if (!outputEnded) {
            try {
                shutdownOutput();
                // Unread tickets would make this a reset.
                plain.getInputStream().skipNBytes(plain.getInputStream().available());
            } catch (IOException e) {
                // The other end was faster.
            }
        }
        plain.close();
    }
}
