package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.posix.Inotify;
import io.millrace.sys.posix.Pipes;
import io.millrace.sys.posix.Processes;
import io.millrace.sys.posix.Signals;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
@EnumSource(value = Rig.Backend.class, names = "NIO", mode = EnumSource.Mode.EXCLUDE)
@EnabledOnOs(OS.LINUX)
class FdSourceTest {
    @Parameter
    Rig.Backend backend;

    @TempDir
    Path directory;

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
    @DisplayName("tip-7: a pipe whose reads would wait is read without a wait, and its flags stay as they were")
    void aBlockingPipeIsReadWithoutAWait() throws Exception {
        Processes.ChildPipe pipe = pipe(true);
        int fd = pipe.theirs().fd();
        int flags = ProcFs.flags(fd);
        FdSource source = rig.keep(FdSource.adopt(fd));

        assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.WOULD_BLOCK);
        write(pipe.ours(), "water");
        rig.await(source, Interest.READABLE);
        ByteBuffer into = ByteBuffer.allocateDirect(16);
        assertThat(source.tryRead(into)).isEqualTo(5);
        assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("water"));
        assertThat(source.tryRead(into.clear())).isEqualTo(Io.WOULD_BLOCK);
        pipe.ours().close();
        rig.await(source, Interest.READABLE);
        assertThat(source.tryRead(into.clear())).isEqualTo(Io.EOF);

        assertThat(ProcFs.flags(fd)).isEqualTo(flags);
        assertThat(ProcFs.isNonBlocking(fd)).isFalse();
        source.close();
        assertThat(ProcFs.isOpen(fd)).as("a borrowed number is never closed").isTrue();
    }

    @Test
    @DisplayName("mr-6, tip-7: a named pipe that another process writes to and closes")
    void aNamedPipe() throws Exception {
        Path fifo = directory.resolve("fifo");
        shell("mkfifo " + fifo);
        RandomAccessFile[] both = new RandomAccessFile[1];
        int fd = ProcFs.opened(fifo.toString(), () -> both[0] = new RandomAccessFile(fifo.toFile(), "rw"));
        rig.keep(both[0]);
        FdSource source = rig.keep(FdSource.adopt(fd));
        rig.poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
        assertThat(rig.reports(Duration.ZERO)).isFalse();
        for (int i = 0; i < 3; i++) {
            shell("echo water > " + fifo);
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
            ByteBuffer into = ByteBuffer.allocate(16);
            assertThat(source.tryRead(into)).isEqualTo(6);
            assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("water\n"));
            assertThat(source.tryRead(into.clear())).isEqualTo(Io.WOULD_BLOCK);
        }
        assertThat(ProcFs.isNonBlocking(fd)).isFalse();
    }

    private static void shell(String command) throws Exception {
        assertThat(new ProcessBuilder("sh", "-c", command).inheritIO().start().waitFor())
                .as(command)
                .isZero();
    }

    @Test
    @DisplayName("tip-7: a pipe whose writes would wait is written without a wait")
    void aBlockingPipeIsWrittenWithoutAWait() throws Exception {
        Processes.ChildPipe pipe = pipe(false);
        FdSource source = rig.keep(FdSource.adopt(pipe.theirs().fd()));

        assertFillsAndDrains(source, FdSource.adopt(pipe.ours().fd()));

        assertThat(ProcFs.isNonBlocking(pipe.theirs().fd())).isFalse();
    }

    @Test
    @DisplayName("tip-7: a socket that waits is asked not to by each call")
    void aBlockingSocketIsUsedWithoutAWait() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(Rig.ANY_PORT)) {
            SocketChannel[] channel = new SocketChannel[1];
            int fd = ProcFs.opened("socket:", () -> channel[0] = SocketChannel.open(server.getLocalAddress()));
            try (SocketChannel client = channel[0];
                    SocketChannel peer = server.accept()) {
                FdSource source = rig.keep(FdSource.adopt(fd));

                assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.WOULD_BLOCK);
                peer.write(TcpStreamTest.ascii("water"));
                rig.await(source, Interest.READABLE);
                assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(5);
                ByteBuffer much = ByteBuffer.allocateDirect(64 << 20);
                while (source.tryWrite(much) != Io.WOULD_BLOCK) {
                    assertThat(much.hasRemaining())
                            .as("the kernel holds less than that")
                            .isTrue();
                }

                assertThat(client.isBlocking()).isTrue();
                assertThat(ProcFs.isNonBlocking(fd)).isFalse();
            }
        }
    }

    @Test
    @DisplayName("tip-7: an eventfd")
    void anEventfd() throws Exception {
        int fd = ProcFs.opened(
                "anon_inode:[eventfd]",
                () -> rig.keep(Poll.builder().backend("poll").open()));
        FdSource source = rig.keep(FdSource.adopt(fd));
        ByteBuffer number = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());

        assertThat(source.tryRead(number)).isEqualTo(Io.WOULD_BLOCK);
        assertThat(source.tryWrite(number.putLong(0, 7))).isEqualTo(8);
        rig.await(source, Interest.READABLE);
        assertThat(source.tryRead(number.clear())).isEqualTo(8);
        assertThat(number.getLong(0)).isEqualTo(7);
        assertThat(source.tryRead(number.clear())).isEqualTo(Io.WOULD_BLOCK);
    }

    @Test
    @DisplayName("tip-7: an inotify queue")
    void anInotifyQueue() throws Exception {
        Inotify inotify = Inotify.open();
        rig.keep(inotify.descriptor()::close);
        inotify.watch(directory, Inotify.CREATE);
        FdSource source = rig.keep(FdSource.adopt(inotify.descriptor().fd()));

        assertThat(source.tryRead(ByteBuffer.allocate(512))).isEqualTo(Io.WOULD_BLOCK);
        Files.createFile(directory.resolve("a"));
        rig.await(source, Interest.READABLE);
        assertThat(source.tryRead(ByteBuffer.allocate(512)))
                .as("a record and a padded name")
                .isEqualTo(32);
    }

    @Test
    @DisplayName("tip-7: a pidfd is readable when the process has ended, and cannot be read")
    void aPidfd() throws Exception {
        Processes.Started child = Processes.spawn(List.of("sleep", "1000"), Map.of(), false, null, new int[] {
            Processes.DISCARD, Processes.DISCARD, Processes.DISCARD
        });
        rig.keep(child.pidfd()::close);
        FdSource source = rig.keep(FdSource.adopt(child.pidfd().fd()));
        rig.poll.register(source, 1, Interest.READABLE, Trigger.LEVEL);
        assertThat(rig.reports(Duration.ZERO)).isFalse();

        Processes.signal(child.pidfd().fd(), Signals.number("KILL"));

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThatThrownBy(() -> source.tryRead(ByteBuffer.allocate(8)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("EINVAL");
        assertThat(Processes.take(child.pidfd().fd())).isEqualTo(new Processes.Ended(-1, 9));
    }

    @Test
    @DisplayName("tip-7: /dev/null, which epoll refuses, is always ready")
    void devNullIsAlwaysReady() throws Exception {
        RandomAccessFile[] file = new RandomAccessFile[1];
        int fd = ProcFs.opened("/dev/null", () -> file[0] = new RandomAccessFile("/dev/null", "rw"));
        rig.keep(file[0]);
        FdSource source = rig.keep(FdSource.adopt(fd));
        rig.poll.register(source, 1, Interest.READ_WRITE, Trigger.LEVEL);

        for (int i = 0; i < 3; i++) {
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        }
        assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.EOF);
        assertThat(source.tryWrite(ByteBuffer.allocate(8))).isEqualTo(8);
    }

    @Test
    @DisplayName("tip-6, tip-7: a regular file is always ready")
    void aRegularFileIsAlwaysReady() throws Exception {
        Path path = Files.writeString(directory.resolve("a"), "water");
        RandomAccessFile[] file = new RandomAccessFile[1];
        int fd = ProcFs.opened(path.toString(), () -> file[0] = new RandomAccessFile(path.toFile(), "rw"));
        rig.keep(file[0]);
        FdSource source = rig.keep(FdSource.adopt(fd));
        rig.poll.register(source, 1, Interest.READ_WRITE, Trigger.LEVEL);

        for (int i = 0; i < 3; i++) {
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        }
        assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(5);
        assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.EOF);
        assertThat(source.tryWrite(TcpStreamTest.ascii("mill"))).isEqualTo(4);
        assertThat(Files.readString(path)).isEqualTo("watermill");
    }

    @Test
    @DisplayName("tip-7: the master of a pseudo-terminal is not opened again, which would make another terminal")
    void theMasterOfATerminal() throws Exception {
        RandomAccessFile[] file = new RandomAccessFile[1];
        int fd = ProcFs.opened("/dev/", () -> file[0] = new RandomAccessFile("/dev/ptmx", "rw"));
        rig.keep(file[0]);
        int flags = ProcFs.flags(fd);
        FdSource master = rig.keep(FdSource.adopt(fd));
        assertThat(master.toString()).contains("a terminal's master");
        assertThat(master.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.WOULD_BLOCK);

        ByteBuffer line = TcpStreamTest.ascii("mill\n");
        while (line.hasRemaining()) {
            if (master.tryWrite(line) == Io.WOULD_BLOCK) {
                rig.await(master, Interest.WRITABLE);
            }
        }

        ByteBuffer echo = ByteBuffer.allocate(16);
        while (echo.position() < 6) {
            rig.await(master, Interest.READABLE);
            master.tryRead(echo);
        }
        assertThat(echo.flip()).as("the terminal's own echo").isEqualTo(TcpStreamTest.ascii("mill\r\n"));
        assertThat(ProcFs.flags(fd)).isEqualTo(flags);
    }

    @Test
    @DisplayName("tip-7: a number that is not open is refused, and so is a negative one")
    void aBadNumberIsRefused() throws Exception {
        Processes.ChildPipe pipe = pipe(true);
        int dead = pipe.theirs().fd();
        pipe.theirs().close();

        assertThatThrownBy(() -> FdSource.adopt(dead))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("fd " + dead + ": not an open file descriptor");
        assertThatThrownBy(() -> FdSource.owned(dead)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> FdSource.adopt(1_000_000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> FdSource.adopt(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not negative");
    }

    @Test
    @DisplayName(
            "tip-7, tip-9: an owner that closes its number, and somebody who is given it, do no harm to the source")
    void theOwnerMayCloseItsNumber() throws Exception {
        Processes.ChildPipe pipe = pipe(true);
        int fd = pipe.theirs().fd();
        FdSource source = rig.keep(FdSource.adopt(fd));
        rig.poll.register(source, 1, Interest.READABLE, Trigger.LEVEL);
        pipe.theirs().close();
        Processes.ChildPipe stranger = pipe(true);
        assertThat(List.of(stranger.theirs().fd(), stranger.ours().fd()))
                .as("the number was given away")
                .contains(fd);
        write(stranger.ours(), "not for us");
        assertThat(rig.reports(Duration.ZERO)).isFalse();

        write(pipe.ours(), "x");

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(source.tryRead(ByteBuffer.allocate(16))).isEqualTo(1);
        source.close();
        assertThat(ProcFs.isOpen(stranger.theirs().fd())).isTrue();
        assertThat(ProcFs.isOpen(stranger.ours().fd())).isTrue();
    }

    @Test
    void anOwnedNumberIsKeptAndClosed() throws Exception {
        Processes.ChildPipe pipe = pipe(false);
        int fd = pipe.theirs().fd();
        FdSource source = FdSource.owned(fd);
        assertThat(source.fd()).isEqualTo(fd);
        assertThat(ProcFs.isCloseOnExec(fd)).isTrue();

        assertFillsAndDrains(source, FdSource.adopt(pipe.ours().fd()));

        assertThat(ProcFs.isOpen(fd)).isTrue();
        source.close();
        source.close();
        assertThat(ProcFs.isOpen(fd)).isFalse();
        assertThatThrownBy(() -> source.tryWrite(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> rig.poll.register(source, 1, Interest.WRITABLE, Trigger.LEVEL))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("EDGE is served as LEVEL until would-block is told of, where the kernel has no edges")
    void wouldBlockRestoresTrueEdges() throws Exception {
        Processes.ChildPipe pipe = pipe(true);
        FdSource source = rig.keep(FdSource.adopt(pipe.theirs().fd()));
        rig.poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
        write(pipe.ours(), "x");
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(rig.reports(Duration.ZERO))
                .as("nobody can know whether it was read by other means")
                .isEqualTo(backend == Rig.Backend.POLL);

        assertThat(readByOtherMeans(pipe.theirs().fd())).isEqualTo(1);
        source.wouldBlock(Interest.READABLE);
        assertThat(rig.reports(Duration.ZERO)).isFalse();
        write(pipe.ours(), "y");

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(rig.reports(Duration.ZERO)).as("a true edge now").isFalse();
        assertThat(readByOtherMeans(pipe.theirs().fd())).isEqualTo(1);
        source.wouldBlock(Interest.READABLE);
        write(pipe.ours(), "z");
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    @Test
    void aReadThatWouldBlockTellsOfItToo() throws Exception {
        Processes.ChildPipe pipe = pipe(true);
        FdSource source = rig.keep(FdSource.adopt(pipe.theirs().fd()));
        rig.poll.register(source, 1, Interest.READABLE, Trigger.EDGE);
        assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.WOULD_BLOCK);
        for (int i = 0; i < 3; i++) {
            write(pipe.ours(), "x");
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
            assertThat(rig.reports(Duration.ZERO)).isFalse();
            assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(1);
            assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.WOULD_BLOCK);
        }
    }

    @Test
    @DisplayName("mr-6, tip-7: the standard input of a process, as a pipe that another one writes to")
    void stdinIsAPipe() throws Exception {
        try (ChildJvm child = ChildJvm.start(StdinChild.class, List.of(), name())) {
            assertThat(child.line()).isEqualTo("a pipe");
            try (var out = child.process().getOutputStream()) {
                out.write("first\n".getBytes(StandardCharsets.US_ASCII));
                out.flush();
                assertThat(child.line()).isEqualTo("read 6: first");
                out.write("second\n".getBytes(StandardCharsets.US_ASCII));
                out.flush();
                assertThat(child.line()).isEqualTo("read 7: second");
            }
            assertThat(child.line()).isEqualTo("end, flags as they were");
            assertThat(child.exit()).isZero();
        }
    }

    @Test
    @DisplayName("tip-7: the standard input of a process, as a file and as nothing")
    void stdinIsAFileOrNothing() throws Exception {
        Path path = Files.writeString(directory.resolve("input"), "water");
        assertThat(runStdinChild(path.toFile())).isEqualTo("a regular file\nread 5: water\nend, flags as they were");
        assertThat(runStdinChild(new File("/dev/null")))
                .isEqualTo("a descriptor of its own kind\nend, flags as they were");
    }

    private String runStdinChild(File input) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(ChildJvm.command(StdinChild.class, List.of(), name()));
        try (ChildJvm child = ChildJvm.start(builder.redirectInput(input))) {
            String said = child.rest();
            assertThat(child.exit()).isZero();
            return said;
        }
    }

    @Test
    @DisplayName("tip-7: the standard input of a process, as a terminal whose flags the shell shares")
    void stdinIsATerminal() throws Exception {
        Tools.require("script", "bsdutils");
        String command = String.join(" ", ChildJvm.command(StdinChild.class, List.of(), name()));
        ProcessBuilder builder = new ProcessBuilder(
                "/usr/bin/script", "--quiet", "--return", "--echo", "never", "-c", command, "/dev/null");
        try (ChildJvm child = ChildJvm.start(builder)) {
            assertThat(child.line()).isEqualTo("a terminal");
            try (var out = child.process().getOutputStream()) {
                out.write("first\n".getBytes(StandardCharsets.US_ASCII));
                out.flush();
                assertThat(child.line()).isEqualTo("read 6: first");
                out.write(4); // Ctrl-D: the end of a terminal's input
                out.flush();
                assertThat(child.line()).isEqualTo("end, flags as they were");
            }
            assertThat(child.exit()).isZero();
        }
    }

    /** Fills a pipe to would-block, drains it, and sees it writable again. */
    private void assertFillsAndDrains(FdSource writer, FdSource reader) throws IOException {
        rig.keep(reader);
        ByteBuffer chunk = ByteBuffer.allocateDirect(10_000);
        long held = 0;
        int written;
        while ((written = writer.tryWrite(chunk.clear())) != Io.WOULD_BLOCK) {
            held += written;
        }
        ByteBuffer into = ByteBuffer.allocate(1 << 20);
        long drained = 0;
        while (drained < held) {
            rig.await(reader, Interest.READABLE);
            drained += reader.tryRead(into.clear());
        }
        rig.await(writer, Interest.WRITABLE);
        assertThat(writer.tryWrite(chunk.clear())).isPositive();
    }

    private String name() {
        return backend.name().toLowerCase(Locale.ROOT);
    }

    private Processes.ChildPipe pipe(boolean childReads) throws IOException {
        Processes.ChildPipe pipe = Processes.pipe(childReads);
        rig.keep(pipe.ours()::close);
        rig.keep(pipe.theirs()::close);
        return pipe;
    }

    private static void write(Descriptor pipe, String text) {
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            assertThat(Pipes.write(state, pipe.fd(), arena.allocateFrom(text), text.length()))
                    .isEqualTo(text.length());
        }
    }

    /** As another library would, with the number itself. */
    private static long readByOtherMeans(int fd) {
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            return Pipes.read(state, fd, arena.allocate(8), 8);
        }
    }
}
