package io.millrace.cli;

import io.millrace.engine.Reactors;
import io.millrace.net.UnixAddress;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Relay;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsWatch;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes each connection on to another server. */
final class Proxy implements Service {
    private final Options options;
    private final Options.Proxied proxied;
    private @Nullable TcpClient client;
    /** Of the authorities that the upstream server is trusted by; null if they are the platform's, or it is plain. */
    private volatile @Nullable TlsWatch watch;

    Proxy(Options options, Options.Proxied proxied) {
        this.options = options;
        this.proxied = proxied;
    }

    @Override
    public ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit) {
        throw new IllegalStateException("a proxy has a handler for each connection");
    }

    @Override
    public TcpServer start(
            TcpServer.Builder server, Reactors on, Supplier<ServerContext> context, Duration messageLimit)
            throws IOException {
        TcpClient.Builder builder = options.client(on, proxied.connectTimeout());
        if (proxied.encrypted()) {
            Tls.Builder tls = Tls.builder();
            if (proxied.trusted() != null) {
                tls.trust(Path.of(proxied.trusted()));
            }
            Tls made = tls.build();
            builder.tls(made);
            if (proxied.trusted() != null) {
                watch = TlsWatch.start(made, on); // ends with the loops
            }
        }
        TcpClient opened = builder.open();
        client = opened;
        try {
            Path unix = proxied.unix();
            return server.start(
                    unix == null ? Relay.proxy(opened, proxied.upstream()) : Relay.proxy(opened, UnixAddress.of(unix)));
        } catch (Throwable e) {
            opened.close();
            throw e;
        }
    }

    @Override
    public boolean reloads() {
        return proxied.trusted() != null;
    }

    @Override
    public void reload() {
        TlsWatch watching = watch;
        if (watching != null) {
            watching.reload();
        }
    }

    /** The server's connections have ended, and those to the upstream server end when they have sent what they got. */
    @Override
    public void end(Duration atMost) {
        TcpClient opened = client;
        if (opened != null) {
            opened.shutdown(atMost);
        }
        TlsWatch watching = watch;
        if (watching != null) {
            watching.close();
        }
    }
}
