package io.millrace.server.loop;

import io.millrace.engine.AcceptDescriptor;
import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.CompletionEventManager;
import io.millrace.engine.ReadResult;
import io.millrace.engine.WriteResult;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.StreamListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A loop on a manager that reads and writes itself, and reports when that is complete. */
public final class CompletionManagerLoop extends ManagerServerLoop {
    private final CompletionEventManager manager;

    public CompletionManagerLoop(CompletionEventManager manager) {
        super(manager);
        this.manager = manager;
    }

    @Override
    DescriptorTransport transport(ByteStream stream, TransportSink sink, int bufferSize) {
        return new CompletionTransport(stream, sink, bufferSize);
    }

    @Override
    AcceptDescriptor watch(StreamListener listener) {
        return manager.registerAccept(listener);
    }

    /**
     * A connection that the manager reads and writes: at most one read and one write at a time.
     *
     * <p><b>Reading.</b> A read cannot be taken back. If it completes while the connection is paused, its result is
     * kept until the connection is resumed.
     *
     * <p><b>Writing.</b> Bytes count as sent when the system has taken them, not when the manager has. So a send copies
     * the first bytes for the manager, but does not consume them. When they are written, the caller is told that there
     * is room and sends the same bytes again, which are then skipped. The caller keeps them in order and drops none, so
     * they are the same. The copy is needed because the caller's buffer is reused when send returns, but a manager
     * needs its bytes until they are written.
     */
    private final class CompletionTransport extends DescriptorTransport {
        /** How many bytes the manager has at most. */
        private static final int CHUNK = 64 * 1024;

        private final CompletionDescriptor descriptor;
        /** Whether the manager has completed a read that this loop has not looked at. Set by the manager's thread. */
        private volatile boolean unseen;
        /** The result of a read that completed while it was paused. */
        private @Nullable ReadResult held;
        /** The bytes for the manager, which uses them while {@code full}. */
        private ByteBuffer copy = ByteBuffer.allocate(0);
        /** How many of the bytes that are sent next were already written. */
        private int written;

        CompletionTransport(ByteStream stream, TransportSink sink, int bufferSize) {
            super(stream, sink, bufferSize);
            this.descriptor = manager.registerCompletion(stream);
        }

        @Override
        void start() {
            if (connecting) {
                write(List.of(), this::connectEnded);
            } else {
                read();
            }
        }

        private void connectEnded(WriteResult result) {
            full = false;
            switch (result) {
                case WriteResult.Written there -> {
                    if (finishConnect()) {
                        read();
                    } else {
                        fail(new IOException(
                                "cannot connect: " + manager + " wrote to " + stream + " before it was connected"));
                    }
                }
                case WriteResult.Failed failure -> fail(failure.cause());
                case WriteResult.Closed closed -> {
                    // The manager is ending, and with it everything on this loop.
                }
            }
        }

        // ---- Reading ----

        private void read() {
            if (isClosed() || paused || ended || reading || descriptor.isClosed()) {
                return;
            }
            reading = true;
            ask(() -> descriptor.read(buffer::clear, result -> {
                unseen = true;
                execute(() -> readEnded(result));
            }));
        }

        private void readEnded(ReadResult result) {
            reading = false;
            unseen = false;
            if (isClosed()) {
                return;
            }
            if (paused) {
                held = result;
            } else {
                tell(result);
                read();
            }
        }

        private void tell(ReadResult result) {
            switch (result) {
                case ReadResult.Data data -> sink.onReceived(data.buffer());
                case ReadResult.EndOfStream end -> {
                    ended = true;
                    sink.onEndOfInput();
                }
                case ReadResult.Failed failure -> fail(failure.cause());
                case ReadResult.Closed closed -> {
                    // The manager is ending, and with it everything on this loop.
                }
            }
        }

        private void tellHeld() {
            ReadResult result = held;
            if (result != null && !paused && !isClosed()) {
                held = null;
                tell(result);
            }
        }

        /** Looks into the socket, too: the manager may not have noticed yet, or has no read to notice it by. */
        @Override
        public boolean hasInput() {
            return !ended && (held != null || unseen || isInputInSocket());
        }

        /**
         * Tells what has been read. If there is more in the socket, it does not read that itself, because the manager is
         * about to: {@link #hasInput} is true until it has.
         */
        @Override
        public void readNow() {
            tellHeld();
        }

        @Override
        public void resume() {
            if (paused) {
                paused = false;
                execute(() -> {
                    tellHeld();
                    read();
                });
            }
        }

        // ---- Writing ----

        private void write(List<ByteBuffer> bytes, Consumer<WriteResult> ending) {
            full = true;
            ask(() -> descriptor.write(
                    bytes,
                    result -> execute(() -> {
                        if (!isClosed()) {
                            ending.accept(result);
                        }
                    })));
        }

        private void writeCopy() {
            copy.flip();
            int size = copy.remaining();
            write(List.of(copy), result -> writeEnded(result, size));
        }

        private void writeEnded(WriteResult result, int size) {
            switch (result) {
                case WriteResult.Written all -> {
                    full = false;
                    written = size;
                    sink.onWritable();
                }
                case WriteResult.Failed failure -> fail(failure.cause());
                case WriteResult.Closed closed -> {
                    // The manager is ending, and with it everything on this loop.
                }
            }
        }

        /** Returns an empty buffer with room for {@code bytes}, or for a chunk. */
        private ByteBuffer copy(long bytes) {
            int size = (int) Math.min(bytes, CHUNK);
            if (copy.capacity() < size) {
                copy = ByteBuffer.allocate(size);
            }
            return copy.clear().limit(size);
        }

        private void passOver(ByteBuffer buffer) {
            int bytes = Math.min(written, buffer.remaining());
            buffer.position(buffer.position() + bytes);
            written -= bytes;
        }

        @Override
        public boolean send(ByteBuffer buffer) {
            if (full) {
                return false;
            }
            passOver(buffer);
            if (!buffer.hasRemaining()) {
                return true;
            }
            ByteBuffer into = copy(buffer.remaining());
            into.put(0, buffer, buffer.position(), into.limit()).position(into.limit());
            writeCopy();
            return false;
        }

        @Override
        public boolean send(ByteBuffer[] buffers, int first, int count) {
            if (full) {
                return false;
            }
            long left = 0;
            for (int i = first; i < first + count; i++) {
                passOver(buffers[i]);
                left += buffers[i].remaining();
            }
            if (left == 0) {
                return true;
            }
            ByteBuffer into = copy(left);
            for (int i = first; into.hasRemaining(); i++) {
                ByteBuffer from = buffers[i];
                int bytes = Math.min(from.remaining(), into.remaining());
                into.put(into.position(), from, from.position(), bytes).position(into.position() + bytes);
            }
            writeCopy();
            return false;
        }

        @Override
        public long sendFile(FileSource file, long position, long count) throws IOException {
            if (full) {
                return 0;
            }
            long moved = written;
            written = 0;
            if (moved < count) {
                int got = file.tryRead(copy(count - moved), position + moved);
                if (got == Io.EOF && moved == 0) {
                    return Io.EOF;
                }
                if (got == Io.EOF) {
                    // The next call will report it.
                    full = true;
                    execute(() -> {
                        full = false;
                        if (!isClosed()) {
                            sink.onWritable();
                        }
                    });
                } else {
                    writeCopy();
                }
            }
            return moved;
        }

        /**
         * Runs a call that asks the manager for something. A manager that is ending closes its descriptors; then the
         * call is ignored, because the end of everything on this loop follows.
         */
        private void ask(Runnable question) {
            try {
                question.run();
            } catch (IllegalStateException e) {
                if (!descriptor.isClosed()) {
                    throw e;
                }
            }
        }

        /** Closes the stream when the manager has returned what it was given. */
        @Override
        void closeDescriptor() {
            manager.delete(descriptor);
        }
    }
}
