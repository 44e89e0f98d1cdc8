package io.millrace.observed;

import io.millrace.server.TcpServer;
import java.net.Socket;

/** A program that {@link FlightRecorderTest} runs on a JVM without {@code jdk.jfr}. */
final class WithoutRecorder {
    private WithoutRecorder() {}

    public static void main(String[] args) throws Exception {
        System.out.println(
                "recorder: " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
        try (TcpServer server = TcpServer.listen(0, (connection, data) -> connection.send(data));
                Socket peer = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
            peer.getOutputStream().write(42);
            System.out.println("echo: " + peer.getInputStream().read());
        }
    }
}
