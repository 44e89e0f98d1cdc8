package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.internal.KernelHandle;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A call that fails has changed nothing: no buffer's position or limit, and no use of the descriptor stays behind. */
@ParameterizedClass
@EnumSource(Rig.Backend.class)
class FailedCallsTest {
    @Parameter
    Rig.Backend backend;

    @TempDir
    Path directory;

    private Rig rig;

    /** Heap and direct ones, with something before and behind what counts; and one that is larger than what a call copies. */
    private final List<ByteBuffer> buffers = List.of(
            ByteBuffer.allocate(32).position(3).limit(17),
            ByteBuffer.allocateDirect(32).position(5).limit(19),
            Arena.ofAuto().allocate(32).asByteBuffer().position(7).limit(21),
            ByteBuffer.allocate(100_000).position(9).limit(90_000));

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

    private interface Call {
        void on(ByteBuffer buffer) throws IOException;
    }

    private void assertEachFails(Class<? extends Throwable> with, Call call) {
        for (ByteBuffer each : buffers) {
            assertFails(with, () -> call.on(each));
        }
    }

    private void assertAllFail(Class<? extends Throwable> with, VectoredCall call) {
        ByteBuffer[] all = buffers.toArray(ByteBuffer[]::new);
        assertFails(with, () -> call.on(all));
    }

    private interface VectoredCall {
        void on(ByteBuffer[] buffers) throws IOException;
    }

    private void assertFails(Class<? extends Throwable> with, ThrowingCallable call) {
        List<Integer> before = marks();
        assertThatThrownBy(call).isInstanceOf(with);
        assertThat(marks()).isEqualTo(before);
    }

    private List<Integer> marks() {
        return buffers.stream()
                .flatMap(each -> List.of(each.position(), each.limit()).stream())
                .toList();
    }

    @Test
    void onAResetStream() throws Exception {
        Rig.Ends ends = rig.connection();
        ends.client().setLinger(Duration.ZERO);
        ends.client().close();
        rig.await(ends.server(), Interest.READABLE);
        TcpStream reset = ends.server();

        assertFails(IOException.class, () -> reset.tryRead(buffers.getFirst())); // takes the reset away
        assertEachFails(IOException.class, reset::tryWrite);
        assertAllFail(IOException.class, all -> reset.tryWrite(all, 0, all.length));
        assertUnused(reset);
    }

    @Test
    void onAStreamWhoseOutputWasShutDown() throws Exception {
        TcpStream stream = rig.connection().client();
        stream.shutdownOutput();

        assertEachFails(IOException.class, stream::tryWrite);
        assertAllFail(IOException.class, all -> stream.tryWrite(all, 0, all.length));
        assertFails(IOException.class, () -> stream.tryWrite(MemorySegment.ofArray(new byte[1])));
        assertUnused(stream);
    }

    @Test
    void onAStreamThatIsNotConnectedYet() throws Exception {
        TcpListener listener = rig.listener();
        TcpStream stream = rig.keep(rig.net.connect(listener.localAddress()));
        if (!stream.isConnected()) {
            assertEachFails(IllegalStateException.class, stream::tryRead);
            assertEachFails(IllegalStateException.class, stream::tryWrite);
            assertAllFail(IllegalStateException.class, all -> stream.tryRead(all, 0, all.length));
        }
        rig.finishConnect(stream);
        assertUnused(stream);
    }

    @Test
    void onAPipeWithoutAReader() throws Exception {
        Pipe pipe = rig.pipe();
        pipe.source().close();

        assertEachFails(IOException.class, pipe.sink()::tryWrite);
        assertAllFail(IOException.class, all -> pipe.sink().tryWrite(all, 0, all.length));
        assertUnused(pipe.sink());
    }

    @Test
    void onAFileThatWasOpenedForTheOtherDirection() throws Exception {
        Path path = directory.resolve("file");
        FileSource writing = rig.keep(rig.net.file(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        FileSource reading = rig.keep(rig.net.file(path));

        assertEachFails(IOException.class, writing::tryRead);
        assertEachFails(IOException.class, each -> writing.tryRead(each, 3));
        assertEachFails(IOException.class, reading::tryWrite);
        assertEachFails(IOException.class, each -> reading.tryWrite(each, 3));
        assertFails(IOException.class, () -> writing.tryRead(MemorySegment.ofArray(new byte[3])));
        assertFails(IOException.class, () -> reading.tryWrite(Arena.ofAuto().allocate(3)));
    }

    @Test
    void onADatagramThatIsTooLongOrGoesNowhere() throws Exception {
        UdpSocket socket = rig.keep(rig.net.udp(Rig.ANY_PORT));
        ByteBuffer direct = ByteBuffer.allocateDirect(70_000).position(1);
        InetSocketAddress to = socket.localAddress();

        assertFails(IOException.class, () -> socket.trySendTo(buffers.getLast(), to));
        assertFails(IOException.class, () -> socket.trySendTo(direct, to));
        assertThat(direct.position()).isEqualTo(1);
        assertEachFails(
                IllegalArgumentException.class,
                each -> socket.trySendTo(each, InetSocketAddress.createUnresolved("nowhere", 1)));
        assertEachFails(
                IllegalArgumentException.class,
                each -> socket.trySendTo(each, new InetSocketAddress(InetAddress.ofLiteral("::1"), 1)));
        assertEachFails(IllegalStateException.class, socket::trySend);
        assertUnused(socket);
    }

    @Test
    void withoutAnArgument() throws Exception {
        Rig.Ends ends = rig.connection();
        Pipe pipe = rig.pipe();
        UdpSocket udp = rig.keep(rig.net.udp(Rig.ANY_PORT));
        List<ThrowingCallable> calls = List.of(
                () -> ends.client().tryRead((ByteBuffer) null),
                () -> ends.client().tryRead((MemorySegment) null),
                () -> ends.client().tryRead(null, 0, 0),
                () -> ends.client().tryRead(new ByteBuffer[2], 0, 2),
                () -> ends.client().tryWrite((ByteBuffer) null),
                () -> ends.client().tryWrite((MemorySegment) null),
                () -> ends.client().tryWrite(new ByteBuffer[2], 0, 2),
                () -> pipe.source().tryRead((ByteBuffer) null),
                () -> pipe.source().tryRead((MemorySegment) null),
                () -> pipe.sink().tryWrite((ByteBuffer) null),
                () -> pipe.sink().tryWrite((MemorySegment) null),
                () -> udp.tryReceive((ByteBuffer) null),
                () -> udp.tryReceive((MemorySegment) null),
                () -> udp.trySendTo((ByteBuffer) null, udp.localAddress()),
                () -> udp.trySendTo(ByteBuffer.allocate(1), null),
                () -> udp.connect(null),
                () -> rig.net.connect((InetSocketAddress) null),
                () -> rig.net.listen((InetSocketAddress) null),
                () -> rig.net.udp(null),
                () -> rig.net.file(null),
                () -> rig.net.process((String) null));
        for (ThrowingCallable call : calls) {
            assertFails(NullPointerException.class, call);
        }
        assertUnused(ends.client());
        assertUnused(pipe.source());
        assertUnused(pipe.sink());
        assertUnused(udp);
    }

    /** More than an int counts: a sparse file, mapped, so that nobody needs the memory. */
    @Test
    void aSegmentOfThreeGibibytesIsNoFailure() throws Exception {
        Rig.Ends ends = rig.connection();
        long size = 3L << 30;
        try (Arena arena = Arena.ofShared();
                FileChannel sparse = FileChannel.open(
                        directory.resolve("sparse"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            MemorySegment huge = sparse.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            int written = ends.client().tryWrite(huge.asSlice(1));
            assertThat(written).isPositive();
            rig.await(ends.server(), Interest.READABLE);
            assertThat(ends.server().tryRead(huge.asSlice(2))).isPositive();

            Pipe pipe = rig.pipe();
            assertThat(pipe.sink().tryWrite(huge)).isPositive();
            assertThat(pipe.source().tryRead(huge)).isPositive();

            UdpSocket udp = rig.keep(rig.net.udp(Rig.ANY_PORT));
            assertFails(IOException.class, () -> udp.trySendTo(huge, udp.localAddress()));
            assertThat(udp.tryReceive(huge)).isEqualTo(UdpSocket.WOULD_BLOCK);
        }
    }

    /** Only the descriptors of our own family count their uses in words. */
    private void assertUnused(Source source) {
        if (backend != Rig.Backend.NIO) {
            assertThat(((KernelHandle) source.handle()).toString()).contains("(0 in use)");
        }
    }
}
