package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.fd.FdAdoption;
import io.millrace.poll.Interest;
import io.millrace.poll.Source;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.Fds;
import io.millrace.sys.posix.Processes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Segments and several buffers, through whatever carries bytes one way: pipes, and descriptors of others, by each kind of system call. */
@ParameterizedClass
@MethodSource("everyKindOnEveryBackend")
@EnabledOnOs(OS.LINUX)
class OneWayTest {
    /** Which source is tried. NIO has the first one only: it refuses descriptors when they are registered. */
    enum Kind {
        PIPE,
        ADOPTED_PIPE,
        ADOPTED_SOCKET,
        /** One that cannot be opened again, so that poll(2) is asked before each call. */
        GUARDED_PIPE,
        GUARDED_TERMINAL
    }

    /** What the tests call; the sources share no interface for it. */
    private interface Reader extends AutoCloseable {
        Source source();

        int read(ByteBuffer into) throws IOException;

        int read(MemorySegment into) throws IOException;

        int read(ByteBuffer[] into, int offset, int length) throws IOException;

        @Override
        void close();
    }

    private interface Writer extends AutoCloseable {
        int write(MemorySegment from) throws IOException;

        int write(ByteBuffer[] from, int offset, int length) throws IOException;

        @Override
        void close();
    }

    static List<Arguments> everyKindOnEveryBackend() {
        List<Arguments> all = new ArrayList<>();
        for (Rig.Backend backend : Rig.Backend.values()) {
            for (Kind kind : Kind.values()) {
                if (backend != Rig.Backend.NIO || kind == Kind.PIPE) {
                    all.add(Arguments.of(backend, kind));
                }
            }
        }
        return all;
    }

    @Parameter(0)
    Rig.Backend backend;

    @Parameter(1)
    Kind kind;

    private final Arena shared = Arena.ofShared();
    private Rig rig;
    private Reader reader;
    private Writer writer;

    @BeforeEach
    void open() throws Exception {
        rig = backend.rig();
        switch (kind) {
            case PIPE -> {
                Pipe pipe = rig.pipe();
                reader = of(pipe.source());
                writer = of(pipe.sink());
            }
            case ADOPTED_PIPE -> {
                reader = of(rig.keep(FdSource.adopt(pipe(true))));
                writer = of(rig.keep(FdSource.adopt(pipe(false))));
            }
            case ADOPTED_SOCKET -> {
                Rig.Ends ends = rig.connection();
                reader = of(rig.keep(FdSource.adopt(fd(ends.server()))));
                writer = of(rig.keep(FdSource.adopt(fd(ends.client()))));
                otherWriter = ends.client();
            }
            case GUARDED_PIPE -> {
                reader = of(guarded(pipe(true), Fds.Kind.PIPE));
                writer = of(guarded(pipe(false), Fds.Kind.PIPE));
            }
            case GUARDED_TERMINAL -> {
                reader = of(guarded(pipe(true), Fds.Kind.TERMINAL));
                writer = of(guarded(pipe(false), Fds.Kind.TERMINAL));
            }
        }
    }

    private Processes.ChildPipe made;

    /** Whatever else holds the writing end open. */
    private AutoCloseable otherWriter = () -> {};

    /** A pipe whose one end waits; the test uses that end and, for writing, the other end's number. */
    private int pipe(boolean reading) throws IOException {
        if (made == null) {
            made = Processes.pipe(true); // theirs is read, and waits
            rig.keep(made.ours()::close);
            otherWriter = made.ours()::close;
            rig.keep(made.theirs()::close);
        }
        return reading ? made.theirs().fd() : made.ours().fd();
    }

    private ByteCalls guarded(int fd, Fds.Kind kind) throws IOException {
        ByteCalls bytes = FdAdoption.guarded(new Descriptor(Fds.duplicate(fd), false), kind);
        rig.keep(bytes::close);
        return bytes;
    }

    private static int fd(Source source) {
        return ((Descriptor) ((KernelHandle) source.handle()).system()).fd();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
        shared.close();
    }

    /** How many bytes one write moves at most. */
    private int mostWritten() {
        return switch (kind) {
            case PIPE, ADOPTED_PIPE, ADOPTED_SOCKET -> Integer.MAX_VALUE;
            case GUARDED_PIPE -> 4096;
            case GUARDED_TERMINAL -> 1;
        };
    }

    @Test
    void everyKindOfSegmentMovesItsOwnBytes() throws Exception {
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment[] kinds = {
                MemorySegment.ofArray(new byte[16]),
                MemorySegment.ofArray(new long[2]),
                MemorySegment.ofArray(new byte[40]).asSlice(7, 16),
                Arena.global().allocate(16),
                Arena.ofAuto().allocate(64).asSlice(3, 16),
                shared.allocate(16),
                confined.allocate(16)
            };
            int round = 0;
            for (MemorySegment from : kinds) {
                for (int target = 0; target < kinds.length; target++) {
                    MemorySegment into = kinds[(target + round) % kinds.length];
                    int length = Math.min(1 + round++ % 16, mostWritten());
                    for (int i = 0; i < length; i++) {
                        from.set(ValueLayout.JAVA_BYTE, i, (byte) (round + i));
                    }
                    assertThat(writer.write(from.asSlice(0, length).asReadOnly()))
                            .isEqualTo(length);
                    rig.await(reader.source(), Interest.READABLE);
                    into.fill((byte) -1);

                    assertThat(reader.read(into)).isEqualTo(length);

                    for (int i = 0; i < 16; i++) {
                        assertThat(into.get(ValueLayout.JAVA_BYTE, i))
                                .as("%s to %s, index %d", from, into, i)
                                .isEqualTo(i < length ? (byte) (round + i) : -1);
                    }
                }
            }
        }
    }

    @Test
    void largeSegmentsGoInPieces() throws Exception {
        byte[] content = new byte[mostWritten() == 1 ? 3_000 : 300_000];
        new Random(4718).nextBytes(content);
        MemorySegment from = shared.allocateFrom(ValueLayout.JAVA_BYTE, content);
        byte[] received = new byte[content.length];
        int sent = 0;
        int got = 0;
        int refused = 0;
        while (got < content.length) {
            int written = 0;
            while (sent < content.length && written != Io.WOULD_BLOCK) {
                // By turns from the heap, where a call moves 64 KiB at most, and from native memory.
                MemorySegment rest = sent % 2 == 0 ? from : MemorySegment.ofArray(content);
                written = writer.write(rest.asSlice(sent));
                assertThat(written).isLessThanOrEqualTo(mostWritten());
                sent += Math.max(written, 0);
                refused += written == Io.WOULD_BLOCK ? 1 : 0;
            }
            int read = reader.read(MemorySegment.ofArray(received).asSlice(got));
            assertThat(read).isNotEqualTo(Io.EOF).isLessThanOrEqualTo(64 << 10);
            if (read == Io.WOULD_BLOCK) {
                rig.await(reader.source(), Interest.READABLE);
            }
            got += Math.max(read, 0);
        }

        assertThat(received).isEqualTo(content);
        assertThat(refused)
                .as("a pipe holds 64 KiB")
                .isGreaterThanOrEqualTo(kind == Kind.PIPE || kind == Kind.GUARDED_PIPE ? 1 : 0);
    }

    @Test
    void nothingToMoveIsAValue() throws Exception {
        MemorySegment room = Arena.ofAuto().allocate(4);
        ByteBuffer[] none = {
            ByteBuffer.allocate(0), ByteBuffer.allocateDirect(4).limit(0)
        };
        assertThat(reader.read(room)).isEqualTo(Io.WOULD_BLOCK);
        assertThat(reader.read(MemorySegment.ofArray(new byte[4]))).isEqualTo(Io.WOULD_BLOCK);
        assertThat(reader.read(new ByteBuffer[] {ByteBuffer.allocate(1)}, 0, 1)).isEqualTo(Io.WOULD_BLOCK);
        assertThat(reader.read(MemorySegment.NULL)).isZero();
        assertThat(reader.read(MemorySegment.ofArray(new byte[0]))).isZero();
        assertThat(reader.read(none, 0, 2)).isZero();
        assertThat(reader.read(none, 2, 0)).isZero();
        assertThat(writer.write(MemorySegment.ofArray(new byte[0]))).isZero();
        assertThat(writer.write(none, 0, 2)).isZero();
    }

    @Test
    void theEndIsSeenByEveryKindOfCall() throws Exception {
        writer.close();
        otherWriter.close();
        rig.await(reader.source(), Interest.READABLE);

        assertThat(reader.read(Arena.ofAuto().allocate(4))).isEqualTo(Io.EOF);
        assertThat(reader.read(MemorySegment.ofArray(new byte[4]))).isEqualTo(Io.EOF);
        assertThat(reader.read(new ByteBuffer[] {ByteBuffer.allocate(1)}, 0, 1)).isEqualTo(Io.EOF);
        assertThat(reader.read(MemorySegment.NULL)).isZero();
    }

    @Test
    void aClosedOneSaysSo() throws Exception {
        MemorySegment room = Arena.ofAuto().allocate(4);
        ByteBuffer[] one = {ByteBuffer.allocate(1)};
        reader.close();
        writer.close();

        assertThatThrownBy(() -> reader.read(room)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> reader.read(MemorySegment.NULL)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> reader.read(one, 0, 1)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> writer.write(room)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> writer.write(one, 0, 1)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    @DisplayName("what may not be used is refused, and no byte is lost")
    void whatMayNotBeUsedIsRefused() throws Exception {
        for (byte each : "safe".getBytes(US_ASCII)) {
            assertThat(writer.write(MemorySegment.ofArray(new byte[] {each}))).isEqualTo(1);
        }
        rig.await(reader.source(), Interest.READABLE);
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(4);
        ByteBuffer[] freedBuffers = {ByteBuffer.allocate(2), arena.allocate(2).asByteBuffer()};
        arena.close();
        AtomicReference<MemorySegment> confined = new AtomicReference<>();
        Thread.ofPlatform()
                .start(() -> confined.set(Arena.ofConfined().allocate(4)))
                .join();
        ByteBuffer[] mixed = {ByteBuffer.allocate(2), ByteBuffer.allocate(2).asReadOnlyBuffer()};

        assertThatThrownBy(() -> reader.read(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> writer.write(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> reader.read(confined.get())).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> writer.write(confined.get())).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> reader.read(freedBuffers, 0, 2)).isInstanceOf(IllegalStateException.class);
        if (mostWritten() > 2) {
            assertThatThrownBy(() -> writer.write(freedBuffers, 0, 2)).isInstanceOf(IllegalStateException.class);
        }
        if (!isBare()) {
            assertThatThrownBy(() -> reader.read(shared.allocate(4).asReadOnly()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            assertThatThrownBy(() -> reader.read(mixed, 0, 2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            assertThatThrownBy(() -> reader.read(mixed, 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> reader.read(mixed, -1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> writer.write(mixed, 0, 3)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> writer.write(new ByteBuffer[1], 0, 1)).isInstanceOf(NullPointerException.class);
        }
        assertThat(mixed).allSatisfy(each -> assertThat(each.position()).isZero());

        ByteBuffer all = ByteBuffer.allocate(8);
        assertThat(reader.read(all)).isEqualTo(4);
        assertThat(all.flip()).isEqualTo(ascii("safe"));
    }

    /** The transport itself, without the checks of a source. */
    private boolean isBare() {
        return kind == Kind.GUARDED_PIPE || kind == Kind.GUARDED_TERMINAL;
    }

    @Test
    void buffersGoOutInTheirOrderAndFillUpInTheirOrder() throws Exception {
        ByteBuffer[] from = {
            ascii("one"), direct("two"), ascii(""), arena("three"), direct(""), ascii("four"), ascii("never")
        };
        int sent = 0;
        while (sent < 15) {
            int written = writer.write(from, 0, 6);
            assertThat(written).isBetween(1, mostWritten());
            sent += written;
        }
        assertThat(sent).isEqualTo(15);
        assertThat(from[6].position()).as("outside of the range").isZero();
        assertThat(Arrays.copyOf(from, 6))
                .allSatisfy(each -> assertThat(each.hasRemaining()).isFalse());
        rig.await(reader.source(), Interest.READABLE);
        ByteBuffer[] into = {
            ByteBuffer.allocate(9),
            ByteBuffer.allocateDirect(2),
            ByteBuffer.allocate(0),
            ByteBuffer.allocate(5).position(1),
            Arena.ofAuto().allocate(4).asByteBuffer(),
            ByteBuffer.allocate(20)
        };

        assertThat(reader.read(into, 1, 5)).isEqualTo(15);

        assertThat(text(into)).isEqualTo("|on||\0etwo|thre|efour");
    }

    @Test
    void ofMoreThan64BuffersTheFirst64Count() throws Exception {
        ByteBuffer[] from = new ByteBuffer[100];
        Arrays.setAll(from, i -> (i % 2 == 0 ? ByteBuffer.allocate(1) : ByteBuffer.allocateDirect(1)).put(0, (byte) i));

        int sent = writer.write(from, 0, 100);
        assertThat(sent).isEqualTo(Math.min(64, mostWritten()));
        while (sent < 100) {
            sent += writer.write(from, sent, 100 - sent);
        }

        ByteBuffer[] into = new ByteBuffer[100];
        Arrays.setAll(into, i -> i % 3 == 0 ? ByteBuffer.allocate(1) : ByteBuffer.allocateDirect(1));
        int read = 0;
        while (read < 100) {
            rig.await(reader.source(), Interest.READABLE);
            int n = reader.read(into, read, 100 - read);
            assertThat(n).isBetween(1, 64);
            read += n;
        }
        for (int i = 0; i < 100; i++) {
            assertThat(into[i].get(0)).isEqualTo((byte) i);
        }
    }

    /** Whoever closes the arena is refused during a call, or the call is afterwards; freed memory is never touched. */
    @Test
    void anArenaCannotBeClosedUnderACall() throws Exception {
        for (int round = 0; round < 50; round++) {
            Arena arena = Arena.ofShared();
            MemorySegment segment = arena.allocate(4096);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread loop = Thread.ofPlatform().start(() -> {
                try {
                    for (; ; ) {
                        writer.write(segment);
                        reader.read(segment);
                    }
                } catch (IllegalStateException expected) {
                    if (arena.scope().isAlive()) {
                        failure.set(expected);
                    }
                } catch (IOException | RuntimeException e) {
                    failure.set(e);
                }
            });
            boolean closed = false;
            while (!closed) {
                try {
                    arena.close();
                    closed = true;
                } catch (IllegalStateException underACall) {
                    Thread.onSpinWait();
                }
            }
            loop.join();
            assertThat(failure.get()).isNull();
        }
    }

    private static ByteBuffer direct(String text) {
        return ByteBuffer.allocateDirect(text.length()).put(ascii(text)).flip();
    }

    private ByteBuffer arena(String text) {
        return shared.allocate(text.length()).asByteBuffer().put(ascii(text)).flip();
    }

    /** What was read into each, between bars. */
    private static String text(ByteBuffer[] buffers) {
        StringBuilder all = new StringBuilder();
        for (int b = 0; b < buffers.length; b++) {
            all.append(b == 0 ? "" : "|");
            for (int i = 0; i < buffers[b].position(); i++) {
                all.append((char) buffers[b].get(i));
            }
        }
        return all.toString();
    }

    private static Reader of(Pipe.Reader pipe) {
        return new Reader() {
            @Override
            public Source source() {
                return pipe;
            }

            @Override
            public int read(ByteBuffer into) throws IOException {
                return pipe.tryRead(into);
            }

            @Override
            public int read(MemorySegment into) throws IOException {
                return pipe.tryRead(into);
            }

            @Override
            public int read(ByteBuffer[] into, int offset, int length) throws IOException {
                return pipe.tryRead(into, offset, length);
            }

            @Override
            public void close() {
                pipe.close();
            }
        };
    }

    private static Writer of(Pipe.Writer pipe) {
        return new Writer() {
            @Override
            public int write(MemorySegment from) throws IOException {
                return pipe.tryWrite(from);
            }

            @Override
            public int write(ByteBuffer[] from, int offset, int length) throws IOException {
                return pipe.tryWrite(from, offset, length);
            }

            @Override
            public void close() {
                pipe.close();
            }
        };
    }

    private interface Both extends Reader, Writer {
        @Override
        void close();
    }

    private static Both of(FdSource source) {
        return new Both() {
            @Override
            public Source source() {
                return source;
            }

            @Override
            public int read(ByteBuffer into) throws IOException {
                return source.tryRead(into);
            }

            @Override
            public int read(MemorySegment into) throws IOException {
                return source.tryRead(into);
            }

            @Override
            public int read(ByteBuffer[] into, int offset, int length) throws IOException {
                return source.tryRead(into, offset, length);
            }

            @Override
            public int write(MemorySegment from) throws IOException {
                return source.tryWrite(from);
            }

            @Override
            public int write(ByteBuffer[] from, int offset, int length) throws IOException {
                return source.tryWrite(from, offset, length);
            }

            @Override
            public void close() {
                source.close();
            }
        };
    }

    private static Both of(ByteCalls bytes) {
        return new Both() {
            @Override
            public Source source() {
                return bytes::handle;
            }

            @Override
            public int read(ByteBuffer into) throws IOException {
                return bytes.read(into);
            }

            @Override
            public int read(MemorySegment into) throws IOException {
                return bytes.read(into);
            }

            @Override
            public int read(ByteBuffer[] into, int offset, int length) throws IOException {
                return bytes.read(into, offset, length);
            }

            @Override
            public int write(MemorySegment from) throws IOException {
                return bytes.write(from);
            }

            @Override
            public int write(ByteBuffer[] from, int offset, int length) throws IOException {
                return bytes.write(from, offset, length);
            }

            @Override
            public void close() {
                bytes.close();
            }
        };
    }
}
