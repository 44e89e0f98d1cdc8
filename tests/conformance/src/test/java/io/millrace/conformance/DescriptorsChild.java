package io.millrace.conformance;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An echo server with fewer descriptors than peers. Says its port; and for each line that it gets how many failures it was told of, whether an alarm is pending, and the time. */
final class DescriptorsChild {
    private DescriptorsChild() {}

    public static void main(String[] arguments) throws Exception {
        AtomicInteger failures = new AtomicInteger();
        ConnectionHandler echo = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                failures.incrementAndGet();
                ConnectionHandler.super.onError(connection, failure);
            }
        };
        try (Reactors loops = Reactors.builder()
                        .reactors(1)
                        .backend(arguments[0])
                        .withoutWatchdog()
                        .open();
                TcpServer server = TcpServer.builder().manager(loops).start(echo);
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            loadClasses(loops, server);
            System.out.println(server.address().getPort());
            for (String line = lines.readLine(); line != null && !line.equals("end"); line = lines.readLine()) {
                boolean pending = loops.dump().contains("alarms are pending");
                System.out.println("state " + failures + (pending ? " busy" : " silent"));
            }
            System.out.println("offset " + ZonedDateTime.now().getOffset());
        }
    }

    /** Classes that are files of their own cannot be loaded without descriptors. From a jar they can. */
    private static void loadClasses(Reactors loops, TcpServer server) throws Exception {
        try (Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            socket.getInputStream().read();
        }
        CountDownLatch fired = new CountDownLatch(1);
        loops.schedule(Duration.ofMillis(100), yes -> fired.countDown());
        while (!loops.dump().contains("alarms are pending") && fired.getCount() > 0) {
            Thread.onSpinWait();
        }
        fired.await();
    }
}
