package io.millrace.testkit;

import io.millrace.net.ByteStream;
import io.millrace.net.FdSource;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.Pipe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** Moves bytes in and out of sources, for tests in which only their number matters. */
public final class Bytes {
    private static final int CHUNK = 8192;

    private Bytes() {}

    /**
     * Writes {@code count} bytes, which must fit.
     *
     * @param to a stream or the sink of a pipe
     * @param count how many bytes
     */
    public static void write(Io to, int count) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(count);
        while (bytes.hasRemaining()) {
            if (tryWrite(to, bytes) == Io.WOULD_BLOCK) {
                throw new AssertionError(bytes.remaining() + " of " + count + " bytes did not fit into " + to);
            }
        }
    }

    /**
     * Writes until it would block.
     *
     * @param to a stream or the sink of a pipe
     * @return how many bytes fitted
     */
    public static long fill(Io to) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(CHUNK);
        long total = 0;
        for (int wrote = 0; wrote != Io.WOULD_BLOCK; wrote = tryWrite(to, bytes.clear())) {
            total += wrote;
        }
        return total;
    }

    /**
     * Reads until it would block or the stream ends.
     *
     * @param from a stream or the source of a pipe
     * @return how many bytes there were
     */
    public static long drain(Io from) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(CHUNK);
        long total = 0;
        for (int got = 0; got >= 0; got = read(from, bytes.clear())) {
            total += got;
        }
        return total;
    }

    /**
     * Reads once.
     *
     * @param from a stream or the source of a pipe
     * @param room how many bytes at most
     * @return how many bytes, {@link Io#EOF} or {@link Io#WOULD_BLOCK}
     */
    public static int readOnce(Io from, int room) {
        return read(from, ByteBuffer.allocateDirect(room));
    }

    private static int read(Io from, ByteBuffer into) {
        try {
            return switch (from) {
                case ByteStream stream -> stream.tryRead(into);
                case FdSource source -> source.tryRead(into);
                case FileSource file -> file.tryRead(into);
                case Pipe.Reader reader -> reader.tryRead(into);
                case Pipe.Writer writer -> throw new IllegalArgumentException("cannot read from " + writer);
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int tryWrite(Io to, ByteBuffer from) {
        try {
            return switch (to) {
                case ByteStream stream -> stream.tryWrite(from);
                case FdSource source -> source.tryWrite(from);
                case FileSource file -> file.tryWrite(from);
                case Pipe.Writer writer -> writer.tryWrite(from);
                case Pipe.Reader reader -> throw new IllegalArgumentException("cannot write to " + reader);
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
