package io.millrace.net;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A file's bytes to a stream: by the system if both are of one family, by a copy if they are not. */
@ParameterizedClass
@MethodSource("everyWay")
class SendFileTest {
    /** Which family the file is of. */
    enum Family {
        SAME,
        OTHER
    }

    @Parameter(0)
    Rig.Backend backend;

    @Parameter(1)
    Streams kind;

    @Parameter(2)
    Family family;

    @TempDir
    Path directory;

    private Rig rig;
    private Net files;
    private ByteStream client;
    private ByteStream server;
    private Path path;
    private byte[] content;

    static List<Arguments> everyWay() {
        List<Arguments> all = new ArrayList<>();
        for (Rig.Backend backend : Rig.Backend.values()) {
            for (Streams kind : Streams.values()) {
                for (Family family : Family.values()) {
                    all.add(Arguments.of(backend, kind, family));
                }
            }
        }
        return all;
    }

    @BeforeEach
    void open() throws Exception {
        rig = backend.rig();
        boolean nio = (backend == Rig.Backend.NIO) == (family == Family.SAME);
        files = nio ? Net.nio() : Net.natively();
        Streams.Ends ends = kind.open(rig);
        client = ends.client();
        server = ends.server();
        path = directory.resolve("file");
        content = new byte[1 << 20];
        new Random(5).nextBytes(content);
        Files.write(path, content);
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    private FileSource file() throws IOException {
        return rig.keep(files.file(path));
    }

    @Test
    void aPieceGoesOutFromItsPositionAndTheFilesOwnPositionStays() throws Exception {
        FileSource file = file();

        assertThat(client.trySend(file, 1_000, 500)).isEqualTo(500);
        assertThat(client.trySend(file, 7, 3)).isEqualTo(3);

        ByteBuffer got = ByteBuffer.allocate(503);
        rig.readFully(server, got);
        assertThat(Arrays.copyOf(got.array(), 500)).isEqualTo(Arrays.copyOfRange(content, 1_000, 1_500));
        assertThat(Arrays.copyOfRange(got.array(), 500, 503)).isEqualTo(Arrays.copyOfRange(content, 7, 10));
        ByteBuffer first = ByteBuffer.allocate(4);
        assertThat(file.tryRead(first)).isEqualTo(4);
        assertThat(first.array()).isEqualTo(Arrays.copyOf(content, 4));
    }

    @Test
    void aFullStreamWouldBlockIsReportedAgainAndNoByteIsLost() throws Exception {
        client.setSendBuffer(8_192);
        FileSource file = file();
        rig.poll.register(client, 7, Interest.WRITABLE, Trigger.EDGE);
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        ByteBuffer got = ByteBuffer.allocate(content.length);
        int blocked = 0;
        long sent = 0;
        while (sent < content.length) {
            long moved = client.trySend(file, sent, content.length - sent);
            if (moved == Io.WOULD_BLOCK) {
                blocked++;
                while (got.position() < sent) {
                    // What is there, not more: the poll has a source already.
                    if (server.tryRead(got) == Io.WOULD_BLOCK) {
                        Thread.onSpinWait();
                    }
                }
                assertThat(rig.reports(Rig.DEADLINE)).as("writable again").isTrue();
            } else {
                assertThat(moved).isPositive();
                sent += moved;
            }
        }
        rig.poll.deregister(client);
        rig.readFully(server, got);

        assertThat(blocked).isPositive();
        assertThat(Arrays.equals(got.array(), content)).isTrue();
    }

    @Test
    void theEndOfTheFileIsToldAndMovesNothing() throws Exception {
        FileSource file = file();

        assertThat(client.trySend(file, content.length - 3, 100)).isEqualTo(3);
        assertThat(client.trySend(file, content.length, 100)).isEqualTo(Io.EOF);
        assertThat(client.trySend(file, content.length + 100L, 1)).isEqualTo(Io.EOF);
        assertThat(client.trySend(file, content.length, 0)).isZero();
        Files.write(path, new byte[0]);
        assertThat(client.trySend(file, 0, 100)).isEqualTo(Io.EOF);

        client.shutdownOutput();
        ByteBuffer got = ByteBuffer.allocate(100);
        while (rig.read(server, got) != Io.EOF) {
            assertThat(got.position()).isLessThanOrEqualTo(3);
        }
        assertThat(got.position()).isEqualTo(3);
    }

    @Test
    void whatMakesNoSenseIsRefusedAndBothGoOn() throws Exception {
        FileSource file = file();
        FileSource closed = file();
        closed.close();
        FileSource writeOnly = rig.keep(files.file(path, WRITE));

        assertThatThrownBy(() -> client.trySend(file, -1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.trySend(file, 0, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.trySend(closed, 0, 1)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> client.trySend(closed, 0, 0)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> client.trySend(writeOnly, 0, 1))
                .isInstanceOf(IOException.class)
                .satisfiesAnyOf(
                        e -> assertThat(e).hasMessageContaining("opened for writing only"),
                        // Copied, by descriptor: what the system says of the read.
                        e -> assertThat(e).hasMessageContaining("EBADF"));

        assertThat(client.trySend(file, 0, 2)).isEqualTo(2);
        ByteBuffer got = ByteBuffer.allocate(2);
        rig.readFully(server, got);
        assertThat(got.array()).isEqualTo(Arrays.copyOf(content, 2));
    }

    @Test
    void aStreamThatIsClosedOrWasShutDownTakesNone() throws Exception {
        FileSource file = file();
        client.shutdownOutput();
        assertThatThrownBy(() -> client.trySend(file, 0, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("shut down");
        server.close();
        assertThatThrownBy(() -> server.trySend(file, 0, 1)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> server.trySend(file, 0, 0)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aFileThatIsDeletedOrGrowsIsSentAsItIs() throws Exception {
        FileSource file = file();
        try (FileChannel more = FileChannel.open(path, READ, WRITE)) {
            more.write(TcpStreamTest.ascii("more"), content.length);
        }
        Files.delete(path);

        assertThat(client.trySend(file, content.length, 100)).isEqualTo(4);

        ByteBuffer got = ByteBuffer.allocate(4);
        rig.readFully(server, got);
        assertThat(got.flip()).isEqualTo(TcpStreamTest.ascii("more"));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatSendfileRefusesIsCopied() throws Exception {
        // Regular by its looks; but the kernel makes it up as it is read, and gives none of it to sockets.
        FileSource file = rig.keep(files.file(Path.of("/proc/self/status")));
        assumeFalse(file.toString().contains("channel"), "NIO goes by its size, which is 0");

        assertThat(client.trySend(file, 0, 5)).isEqualTo(5);

        ByteBuffer got = ByteBuffer.allocate(5);
        rig.readFully(server, got);
        assertThat(got.flip()).isEqualTo(TcpStreamTest.ascii("Name:"));
    }

    @Test
    void aPeerThatHasGoneIsAnErrorAndNoSignal() throws Exception {
        FileSource file = file();
        server.close();
        assertThatThrownBy(() -> {
                    for (long moved = 0; moved != Io.WOULD_BLOCK; ) {
                        moved = client.trySend(file, 0, 1 << 16);
                        rig.await(client, Interest.WRITABLE);
                    }
                })
                .isInstanceOf(IOException.class);
    }
}
