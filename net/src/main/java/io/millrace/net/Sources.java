package io.millrace.net;

import java.io.IOException;
import java.net.InetSocketAddress;

/** How one family makes its sources. The addresses are resolved. */
sealed interface Sources permits FdSources, NioSources {
    TcpListener listen(InetSocketAddress address, int backlog) throws IOException;

    TcpStream connect(InetSocketAddress address) throws IOException;

    Pipe pipe() throws IOException;
}
