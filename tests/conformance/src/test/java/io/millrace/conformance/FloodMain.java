package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.SendResult;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A child JVM: eight threads send to a peer that does not read, while its loop is blocked. Says how many bytes and messages were taken, and what {@code onError} got.
 * Arguments: dispatch, send or broadcast, the size of a message.
 */
final class FloodMain {
    private static final int SENDERS = 8;

    private FloodMain() {}

    public static void main(String[] args) throws Exception {
        boolean broadcast = args[1].equals("broadcast");
        int size = Integer.parseInt(args[2]);
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        CompletableFuture<String> error = new CompletableFuture<>();
        CountDownLatch gone = new CountDownLatch(1);
        try (Reactors loops = Reactors.builder().reactors(1).withoutWatchdog().open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(Dispatch.valueOf(args[0]), 2)
                        .waterMarks(0, 64 << 10, 1 << 20)
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connected.complete(connection);
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {}

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                error.complete(String.valueOf(failure.getMessage()));
                            }

                            @Override
                            public void onDisconnect(Connection connection) {
                                gone.countDown();
                            }
                        });
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.setSoTimeout(60_000);
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            CountDownLatch unblocked = new CountDownLatch(1);
            CountDownLatch blocked = new CountDownLatch(1);
            loops.execute(() -> {
                blocked.countDown();
                await(unblocked);
            });
            await(blocked);
            AtomicLong taken = new AtomicLong();
            List<Thread> senders = new ArrayList<>();
            for (int i = 0; i < SENDERS; i++) {
                ByteBuffer bytes = ByteBuffer.allocate(size);
                senders.add(Thread.ofPlatform().start(() -> {
                    while (broadcast
                            ? server.context().broadcast(bytes.clear()) > 0
                            : connection.send(bytes.clear()) != SendResult.CLOSED) {
                        taken.incrementAndGet();
                    }
                }));
            }
            for (Thread sender : senders) {
                sender.join();
            }
            long queued = connection.queuedBytes();
            unblocked.countDown();
            await(gone);
            // Behind what was taken before the end, and is dropped when it arrives.
            CountDownLatch arrived = new CountDownLatch(1);
            loops.execute(arrived::countDown);
            await(arrived);
            System.out.println("taken " + taken + " queued " + queued + " error " + error.get(10, TimeUnit.SECONDS)
                    + " left " + connection.queuedBytes());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("waited in vain");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
