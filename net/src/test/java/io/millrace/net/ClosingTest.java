package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class ClosingTest {
    @Parameter
    Rig.Backend backend;

    private Rig rig;

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    void everyCallOnAClosedStreamSaysSo() throws Exception {
        Rig.Ends ends = rig.connection();
        TcpStream stream = ends.client();
        stream.close();
        stream.close();

        assertThat(stream.isConnected()).isFalse();
        assertClosed(() -> stream.tryRead(ByteBuffer.allocate(1)));
        assertClosed(() -> stream.tryRead(ByteBuffer.allocate(0)));
        assertClosed(() -> stream.tryWrite(ByteBuffer.allocate(1)));
        assertClosed(stream::shutdownInput);
        assertClosed(stream::shutdownOutput);
        assertClosed(() -> stream.setNoDelay(true));
        assertClosed(stream::finishConnect);
        assertClosed(stream::localAddress);
        assertThat(rig.read(ends.server(), ByteBuffer.allocate(1)))
                .as("the peer sees it")
                .isEqualTo(TcpStream.EOF);
    }

    @Test
    void aClosedStreamIsDeregistered() throws Exception {
        Rig.Ends ends = rig.connection();
        rig.poll.register(ends.server(), 7, Interest.READ_WRITE, Trigger.LEVEL);
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();

        ends.server().close();

        assertThat(rig.poll.size()).isZero();
        assertThat(rig.reports(Duration.ZERO)).isFalse();
    }

    @Test
    void aCloseDuringAWaitOnAnotherThreadReachesThePeerAtOnce() throws Exception {
        Rig.Ends ends = rig.connection();
        TcpStream server = ends.server();
        rig.poll.register(server, 7, Interest.READABLE, Trigger.EDGE);
        Thread waiting = Thread.ofPlatform().start(() -> rig.poll.poll(Events.withCapacity(4)));
        while (rig.poll.waits() == 0) {
            Thread.onSpinWait();
        }

        server.close();

        ByteBuffer into = ByteBuffer.allocate(1);
        long deadline = System.nanoTime() + Rig.DEADLINE.toNanos();
        int read = ends.client().tryRead(into);
        while (read == TcpStream.WOULD_BLOCK && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
            read = ends.client().tryRead(into);
        }
        assertThat(read).isEqualTo(TcpStream.EOF);
        rig.poll.wake();
        waiting.join();
    }

    /**
     * A close takes the number away and the next connection gets it, while a thread still reads from the old stream: it must meet
     * ClosedChannelException and never a byte of the new one. Each connection sends a byte of its own.
     */
    @Test
    void aReaderNeverGetsAStrangersByte() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (TcpListener listener = rig.net.listen(Rig.ANY_PORT)) {
            for (int round = 0; round < 300; round++) {
                byte mark = (byte) (round % 100 + 1);
                int kind = round % 3;
                TcpStream client = rig.net.connect(listener.localAddress());
                TcpStream server = await(listener);
                rig.finishConnect(client);
                CountDownLatch reading = new CountDownLatch(1);
                Thread reader = Thread.ofPlatform().start(() -> {
                    ByteBuffer into = ByteBuffer.allocateDirect(1);
                    try {
                        for (; ; ) {
                            int read = switch (kind) {
                                case 0 -> server.tryRead(into.clear());
                                case 1 -> server.tryRead(new ByteBuffer[] {into.clear()}, 0, 1);
                                default -> server.tryRead(MemorySegment.ofBuffer(into.clear()));
                            };
                            if (read == 1) {
                                assertThat(into.get(0)).isEqualTo(mark);
                            }
                            reading.countDown();
                        }
                    } catch (ClosedChannelException e) {
                        assertThat(server.isConnected()).isFalse();
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                        reading.countDown();
                    }
                });
                assertThat(client.tryWrite(ByteBuffer.allocate(1).put(0, mark))).isEqualTo(1);
                reading.await();
                server.close();
                // The number is free now or soon; these take it and have something to read.
                Pipe stranger = rig.net.pipe();
                stranger.sink().tryWrite(ByteBuffer.allocate(1).put(0, (byte) -1));
                reader.join();
                stranger.close();
                client.close();
                assertThat(failure.get()).isNull();
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void everyDescriptorIsGivenBack() throws Exception {
        openAndCloseOneOfEach();
        long base = openFiles();

        for (int i = 0; i < 200; i++) {
            openAndCloseOneOfEach();
        }

        assertThat(openFiles()).isEqualTo(base);
    }

    private void openAndCloseOneOfEach() throws IOException {
        TcpListener listener = rig.net.listen(Rig.ANY_PORT);
        TcpStream client = rig.net.connect(listener.localAddress());
        rig.poll.register(listener, 1, Interest.READABLE, Trigger.EDGE);
        rig.poll.register(client, 2, Interest.READ_WRITE, Trigger.LEVEL);
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        client.finishConnect();
        TcpStream server = listener.accept();
        if (server != null) {
            server.close();
        }
        Pipe pipe = rig.net.pipe();
        rig.poll.register(pipe.sink(), 3, Interest.WRITABLE, Trigger.ONESHOT);
        rig.poll.register(pipe.source(), 4, Interest.READABLE, Trigger.LEVEL);
        rig.poll.deregister(pipe.source());
        pipe.close();
        listener.close();
        client.close();
        TcpStream refused = null;
        try {
            refused = rig.net.connect(listener.localAddress());
            rig.finishConnect(refused);
        } catch (IOException e) {
            assertThat(refused == null || !refused.isConnected()).isTrue();
        }
        assertThat(rig.poll.size()).isZero();
    }

    private TcpStream await(TcpListener listener) throws IOException {
        for (; ; ) {
            TcpStream stream = listener.accept();
            if (stream != null) {
                return stream;
            }
            rig.await(listener, Interest.READABLE);
        }
    }

    private static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    private static void assertClosed(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(ClosedChannelException.class);
    }
}
