package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A server that fills its heap when it is told to, and frees it when standard input says so. It ends when its manager does. */
final class HeapChild {
    /** Without a lock, which a thread that died for want of memory might hold. */
    private static volatile @Nullable Node hoard;

    private static volatile boolean released;

    private record Node(byte[] bytes, @Nullable Node next) {}

    private HeapChild() {}

    public static void main(String[] arguments) throws Exception {
        Reactors manager = Reactors.builder().reactors(2).daemon(true).open();
        TcpServer server = TcpServer.builder()
                .manager(manager)
                .dispatch(Dispatch.valueOf(arguments[0]), 2)
                .start((connection, data) -> {
                    if (data.get(data.position()) == 'h') {
                        fill();
                    } else {
                        connection.send(data);
                    }
                });
        System.out.println(server.address().getPort());
        while (!manager.isTerminated()) {
            if (!released && System.in.available() > 0) {
                released = true;
                hoard = null;
                System.out.println("released");
            }
            LockSupport.parkNanos(1_000_000);
        }
        Runtime.getRuntime().halt(3);
    }

    private static void fill() {
        for (int size = 1 << 20; !released; ) {
            try {
                hoard = new Node(new byte[size], hoard);
            } catch (OutOfMemoryError e) {
                if (size == 16) {
                    throw e;
                }
                size /= 2; // to the last byte
            }
        }
        hoard = null;
    }
}
