package io.millrace.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class FileSourceTest {
    @Parameter
    Rig.Backend backend;

    @TempDir
    Path directory;

    private Rig rig;
    private Path path;

    @BeforeEach
    void open() {
        rig = backend.rig();
        path = directory.resolve("file");
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    @DisplayName("end-1: an interrupted thread uses it as any other, and stays interrupted")
    void anInterruptedThread() throws Exception {
        FileSource file = rig.keep(rig.net.file(path, CREATE, READ, WRITE));
        ByteBuffer into = ByteBuffer.allocate(5);
        Thread.currentThread().interrupt();
        try {
            assertThat(file.tryWrite(US_ASCII.encode("water"))).isEqualTo(5);
            assertThat(file.size()).isEqualTo(5);
            file.force(true);
            assertThat(file.tryRead(into, 0)).isEqualTo(5);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            Thread.interrupted();
        }
        assertThat(into.array()).asString(US_ASCII).isEqualTo("water");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void itKnowsWhereItReallyIsAndWhenItWasChanged() throws Exception {
        Path real = Files.writeString(directory.toRealPath().resolve("real"), "water");
        Instant modified = Instant.parse("2026-01-02T03:04:05.123456789Z");
        Files.setLastModifiedTime(real, FileTime.from(modified));
        Files.createSymbolicLink(path, real);
        FileSource file = rig.keep(rig.net.file(path));
        assertThat(file.realPath()).isEqualTo(real);
        assertThat(file.modified()).isEqualTo(modified);
        Files.delete(path);
        Files.writeString(path, "another");
        if (backend == Rig.Backend.NIO) {
            assertThat(file.realPath()).isEqualTo(directory.toRealPath().resolve("file"));
        } else {
            assertThat(file.realPath()).as("that of the open file").isEqualTo(real);
            assertThat(file.modified()).isEqualTo(modified);
            Path moved = Files.move(real, real.resolveSibling("moved (deleted)"));
            assertThat(file.realPath()).isEqualTo(moved);
            Files.delete(moved);
            assertThatThrownBy(file::realPath)
                    .isInstanceOf(NoSuchFileException.class)
                    .hasMessageContaining("removed");
        }
        file.close();
        assertThatThrownBy(file::realPath).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(file::modified).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void itIsReadToTheEndAndFurtherWhenItHasGrown() throws Exception {
        Files.writeString(path, "water");
        FileSource file = rig.keep(rig.net.file(path));
        ByteBuffer into = ByteBuffer.allocate(16);

        assertThat(file.size()).isEqualTo(5);
        assertThat(file.tryRead(into.limit(3))).isEqualTo(3);
        assertThat(file.tryRead(into.limit(16))).isEqualTo(2);
        assertThat(file.tryRead(into)).isEqualTo(Io.EOF);
        Files.writeString(path, "mill", APPEND);
        assertThat(file.tryRead(into)).isEqualTo(4);

        assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("watermill"));
        assertThat(file.tryRead(ByteBuffer.allocate(0))).isZero();
        assertThat(file.toString()).contains(path.toString());
    }

    @Test
    void everyKindOfBufferHoldsTheSame() throws Exception {
        Files.writeString(path, "water");
        FileSource file = rig.keep(rig.net.file(path, READ, WRITE));
        try (Arena arena = Arena.ofConfined()) {
            for (ByteBuffer into : new ByteBuffer[] {
                ByteBuffer.allocate(5),
                ByteBuffer.allocateDirect(5),
                arena.allocate(5).asByteBuffer()
            }) {
                assertThat(file.tryRead(into, 0)).isEqualTo(5);
                assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("water"));
                assertThat(file.tryWrite(into, 5)).isEqualTo(5);
                assertThat(Files.readString(path)).isEqualTo("waterwater");
            }
        }
        ByteBuffer readOnly = ByteBuffer.allocate(4).asReadOnlyBuffer();
        assertThatThrownBy(() -> file.tryRead(readOnly)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void everyKindOfSegmentHoldsTheSame() throws Exception {
        Files.writeString(path, "water");
        FileSource file = rig.keep(rig.net.file(path, READ, WRITE));
        try (Arena confined = Arena.ofConfined();
                Arena shared = Arena.ofShared()) {
            for (MemorySegment into : new MemorySegment[] {
                MemorySegment.ofArray(new byte[5]),
                MemorySegment.ofArray(new byte[40]).asSlice(7, 5),
                Arena.global().allocate(5),
                Arena.ofAuto().allocate(5),
                confined.allocate(5),
                shared.allocate(5)
            }) {
                Files.writeString(path, "water");
                assertThat(file.tryRead(into, 0)).isEqualTo(5);
                assertThat(into.toArray(ValueLayout.JAVA_BYTE)).isEqualTo("water".getBytes(US_ASCII));
                assertThat(file.tryWrite(into.asReadOnly(), 5)).isEqualTo(5);
                assertThat(Files.readString(path)).isEqualTo("waterwater");
            }
        }
        FileSource next = rig.keep(rig.net.file(path, READ, WRITE));
        MemorySegment three = MemorySegment.ofArray(new byte[3]);
        MemorySegment direct = Arena.ofAuto().allocate(3);
        assertThat(next.tryRead(three)).isEqualTo(3);
        assertThat(next.tryRead(direct)).isEqualTo(3);
        assertThat(three.toArray(ValueLayout.JAVA_BYTE)).isEqualTo("wat".getBytes(US_ASCII));
        assertThat(direct.toArray(ValueLayout.JAVA_BYTE)).isEqualTo("erw".getBytes(US_ASCII));
        assertThat(next.tryWrite(three)).isEqualTo(3);
        assertThat(next.tryWrite(direct)).isEqualTo(3);
        assertThat(Files.readString(path)).isEqualTo("waterwwaterw");
        assertThat(next.tryRead(direct)).isEqualTo(Io.EOF);
        assertThat(next.tryRead(three, 100)).isEqualTo(Io.EOF);
        assertThat(next.tryRead(MemorySegment.NULL)).isZero();
        assertThat(next.tryWrite(MemorySegment.ofArray(new byte[0]), 4)).isZero();
    }

    @Test
    void aSegmentThatMayNotBeUsedIsRefusedAndTheFileStaysWhereItIs() throws Exception {
        Files.writeString(path, "water");
        FileSource file = rig.keep(rig.net.file(path, READ, WRITE));
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(4);
        arena.close();
        AtomicReference<MemorySegment> confined = new AtomicReference<>();
        Thread.ofPlatform()
                .start(() -> confined.set(Arena.ofConfined().allocate(4)))
                .join();
        MemorySegment readOnly = Arena.ofAuto().allocate(4).asReadOnly();

        assertThatThrownBy(() -> file.tryRead(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> file.tryRead(freed, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> file.tryWrite(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> file.tryWrite(freed, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> file.tryRead(confined.get())).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> file.tryWrite(confined.get(), 0)).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> file.tryRead(readOnly)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.tryRead(readOnly, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.tryRead(MemorySegment.NULL, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.tryWrite(MemorySegment.NULL, -1)).isInstanceOf(IllegalArgumentException.class);

        ByteBuffer all = ByteBuffer.allocate(8);
        assertThat(file.tryRead(all)).isEqualTo(5);
        assertThat(all.flip()).isEqualTo(TcpStreamTest.ascii("water"));
        file.close();
        assertThatThrownBy(() -> file.tryRead(Arena.ofAuto().allocate(4))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> file.tryWrite(MemorySegment.NULL)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aLargeSegmentOfTheHeapGoesInPieces() throws Exception {
        byte[] content = new byte[200_000];
        new Random(4719).nextBytes(content);
        FileSource file = rig.keep(rig.net.file(path, CREATE, READ, WRITE));
        int sent = 0;
        while (sent < content.length) {
            int written = file.tryWrite(MemorySegment.ofArray(content).asSlice(sent));
            assertThat(written).isBetween(1, 64 << 10);
            sent += written;
        }
        MemorySegment whole = Arena.ofAuto().allocate(content.length + 1);

        assertThat(file.tryRead(whole, 0)).as("native ones go at once").isEqualTo(content.length);

        assertThat(whole.asSlice(0, content.length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(content);
        assertThat(file.tryRead(MemorySegment.ofArray(content), 0)).isEqualTo(64 << 10);
    }

    @Test
    void aCallWithAPositionLeavesTheOthersWhereTheyAre() throws Exception {
        Files.writeString(path, "0123456789");
        FileSource file = rig.keep(rig.net.file(path, READ, WRITE));
        ByteBuffer two = ByteBuffer.allocate(2);

        file.tryRead(two);
        assertThat(file.tryRead(two.clear(), 8)).isEqualTo(2);
        assertThat(two.flip()).isEqualTo(TcpStreamTest.ascii("89"));
        assertThat(file.tryRead(two.clear(), 10)).isEqualTo(Io.EOF);
        assertThat(file.tryWrite(TcpStreamTest.ascii("AB"), 12)).isEqualTo(2);
        file.tryRead(two.clear());

        assertThat(two.flip()).isEqualTo(TcpStreamTest.ascii("23"));
        assertThat(file.size()).isEqualTo(14);
        assertThat(Files.readString(path)).isEqualTo("0123456789\0\0AB");
        assertThatThrownBy(() -> file.tryRead(two, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not negative");
        file.force(false);
        file.force(true);
    }

    @Test
    void theOptionsMeanWhatTheyMeanInTheJdk() throws Exception {
        assertThatThrownBy(() -> rig.net.file(path)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> rig.net.file(path, WRITE)).isInstanceOf(NoSuchFileException.class);
        write(rig.net.file(path, WRITE, CREATE_NEW), "one");
        assertThatThrownBy(() -> rig.net.file(path, WRITE, CREATE_NEW)).isInstanceOf(FileAlreadyExistsException.class);
        write(rig.net.file(path, APPEND), "two");
        assertThat(Files.readString(path)).isEqualTo("onetwo");
        write(rig.net.file(path, WRITE, CREATE), "ONE");
        assertThat(Files.readString(path)).isEqualTo("ONEtwo");
        write(rig.net.file(path, WRITE, TRUNCATE_EXISTING), "x");
        assertThat(Files.readString(path)).isEqualTo("x");

        assertThatThrownBy(() -> rig.net.file(path, READ, APPEND)).isInstanceOf(IllegalArgumentException.class);
        FileSource reading = rig.keep(rig.net.file(path, READ));
        assertThatThrownBy(() -> reading.tryWrite(ByteBuffer.allocate(1)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("it was opened for reading only");
        FileSource writing = rig.keep(rig.net.file(path, WRITE));
        assertThatThrownBy(() -> writing.tryRead(ByteBuffer.allocate(1)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("it was opened for writing only");
        assertThatThrownBy(() -> rig.net.file(path, WRITE, DELETE_ON_CLOSE))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("delete it when");
    }

    private static void write(FileSource file, String text) throws IOException {
        try (file) {
            assertThat(file.tryWrite(TcpStreamTest.ascii(text))).isEqualTo(text.length());
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
    void whatIsNoRegularFileIsRefusedWithoutAWait() throws Exception {
        assertThatThrownBy(() -> rig.net.file(directory))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("not a regular file");
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() -> rig.net.file(pipe))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("not a regular file");
    }

    @Test
    @DisplayName("tip-6: a file is ready in every poll, at its end too, and never reaches the kernel's queue")
    void itIsReadyForEver() throws Exception {
        Files.createFile(path);
        FileSource file = rig.keep(rig.net.file(path, READ, WRITE));
        rig.poll.register(file, 1, Interest.READ_WRITE, Trigger.LEVEL);
        for (int i = 0; i < 5; i++) {
            assertThat(rig.reports(Duration.ZERO)).isTrue();
        }
        rig.poll.reregister(file, 1, Interest.WRITABLE, Trigger.EDGE);
        assertThat(rig.reports(Duration.ZERO)).isTrue();
        assertThat(rig.reports(Duration.ZERO)).as("it never becomes ready anew").isFalse();
        rig.poll.deregister(file);
        assertThat(file.handle().toString())
                .as("what the poll took is given back")
                .doesNotContain("1 in use");
        rig.poll.register(file, 1, Interest.READABLE, Trigger.LEVEL);
        assertThat(rig.reports(Duration.ZERO)).isTrue();
    }

    @Test
    @DisplayName("tip-6: a file and a socket in one loop, both ways, and nobody starves")
    void aFileAndASocketTogether() throws Exception {
        byte[] content = new byte[1 << 20];
        new Random(7).nextBytes(content);
        Files.write(path, content);
        Path copy = directory.resolve("copy");
        FileSource from = rig.keep(rig.net.file(path));
        FileSource to = rig.keep(rig.net.file(copy, WRITE, CREATE_NEW));
        Rig.Ends ends = rig.connection();
        rig.poll.register(from, 1, Interest.READABLE, Trigger.LEVEL);
        rig.poll.register(ends.client(), 2, Interest.WRITABLE, Trigger.LEVEL);
        rig.poll.register(ends.server(), 3, Interest.READABLE, Trigger.LEVEL);
        rig.poll.register(to, 4, Interest.WRITABLE, Trigger.LEVEL);

        // One place for four sources that are ready nearly always.
        Events events = Events.withCapacity(1);
        ByteBuffer out = ByteBuffer.allocateDirect(8192).flip();
        ByteBuffer in = ByteBuffer.allocateDirect(8192);
        Map<Long, Integer> seen = new TreeMap<>();
        boolean ended = false;
        boolean received = false;
        while (!received || in.position() > 0) {
            assertThat(rig.poll.poll(events, Rig.DEADLINE)).isPositive();
            for (Event event : events) {
                seen.merge(event.token(), 1, Integer::sum);
                switch ((int) event.token()) {
                    case 1 -> {
                        ended = from.tryRead(out.compact()) == Io.EOF;
                        out.flip();
                    }
                    case 2 -> {
                        ends.client().tryWrite(out);
                        if (ended && !out.hasRemaining()) {
                            rig.poll.deregister(ends.client());
                            ends.client().shutdownOutput();
                        }
                    }
                    case 3 -> {
                        received = ends.server().tryRead(in) == Io.EOF;
                        if (received) {
                            rig.poll.deregister(ends.server());
                        }
                    }
                    default -> {
                        to.tryWrite(in.flip());
                        in.compact();
                    }
                }
            }
        }

        assertThat(Files.readAllBytes(copy)).isEqualTo(content);
        int turns = seen.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(seen.get(1L) + seen.get(4L))
                .as("the sockets were served although the files are ready in every turn: %s", seen)
                .isLessThan(turns * 3 / 4);
    }

    @Test
    void aClosedOneSaysSoAndIsSilent() throws Exception {
        Files.writeString(path, "x");
        FileSource file = rig.net.file(path);
        rig.poll.register(file, 1, Interest.READABLE, Trigger.LEVEL);
        file.close();
        file.close();

        assertThat(rig.reports(Duration.ZERO)).isFalse();
        assertThat(rig.poll.size()).isZero();
        assertThatThrownBy(() -> file.tryRead(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> file.tryRead(ByteBuffer.allocate(0))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(file::size).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> rig.poll.register(file, 1, Interest.READABLE, Trigger.LEVEL))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void itsDescriptorIsClosedWithIt() throws Exception {
        Files.writeString(path, "x");
        FileSource[] file = new FileSource[1];
        int fd = ProcFs.opened(path.toString(), () -> file[0] = rig.net.file(path));
        if (backend != Rig.Backend.NIO) {
            assertThat(ProcFs.isCloseOnExec(fd)).isTrue(); // the JDK's are not
        }

        file[0].close();

        assertThat(ProcFs.isOpen(fd)).isFalse();
    }
}
