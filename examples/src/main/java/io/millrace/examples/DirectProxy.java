package io.millrace.examples;

import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A proxy in direct style: two threads for each connection, one for each direction. */
public final class DirectProxy {
    private DirectProxy() {}

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on, and the port of the other server
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        InetSocketAddress upstream = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]));
        try (DirectClient client = DirectClient.open();
                DirectServer server = DirectServer.listen(Integer.parseInt(args[0]), near -> {
                    try (DirectSocket far = client.connect(upstream)) {
                        Thread back = Thread.startVirtualThread(() -> pass(far, near));
                        pass(near, far);
                        back.join();
                    }
                })) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }

    /** Passes everything on; a half close, too. If one side fails, the other one is reset. */
    private static void pass(DirectSocket from, DirectSocket to) {
        ByteBuffer buffer = ByteBuffer.allocate(16 << 10);
        try {
            while (from.read(buffer.clear()) >= 0) {
                to.write(buffer.flip());
            }
            to.closeOutput();
        } catch (IOException e) {
            from.abort();
            to.abort();
        }
    }
}
