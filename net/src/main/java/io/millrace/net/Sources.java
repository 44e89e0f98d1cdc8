package io.millrace.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Set;

/** How one family makes its sources. The addresses are resolved. */
sealed interface Sources permits FdSources, NioSources {
    TcpListener listen(InetSocketAddress address, ListenOptions options) throws IOException;

    TcpStream connect(InetSocketAddress address) throws IOException;

    UnixListener listen(UnixAddress address, int backlog) throws IOException;

    UnixStream connect(UnixAddress address) throws IOException;

    UdpSocket udp(InetSocketAddress address, UdpOptions options) throws IOException;

    Pipe pipe() throws IOException;

    FileSource file(Path path, Set<? extends OpenOption> options) throws IOException;

    FileWatch fileWatch() throws IOException;

    ProcessTransport start(ChildProcess.Builder child) throws IOException;
}
