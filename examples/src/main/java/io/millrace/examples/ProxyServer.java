package io.millrace.examples;

import io.millrace.server.Relay;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A proxy: passes every connection on to another server on this machine. */
public final class ProxyServer {
    private ProxyServer() {}

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on, and the port of the other server
     * @throws Exception if it cannot begin
     */
    public static void main(String[] args) throws Exception {
        InetSocketAddress local = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        InetSocketAddress upstream = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]));
        try (TcpClient client = TcpClient.open();
                TcpServer server = TcpServer.builder().address(local).start(Relay.proxy(client, upstream))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
