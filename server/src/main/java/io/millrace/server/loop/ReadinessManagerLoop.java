package io.millrace.server.loop;

import io.millrace.engine.AcceptDescriptor;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.engine.transport.TransportSink;
import io.millrace.net.ByteStream;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.StreamListener;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A loop on a manager that reports when descriptors are ready. */
public final class ReadinessManagerLoop extends ManagerServerLoop {
    private final ReadinessEventManager manager;

    public ReadinessManagerLoop(ReadinessEventManager manager) {
        super(manager);
        this.manager = manager;
    }

    @Override
    DescriptorTransport transport(ByteStream stream, TransportSink sink, int bufferSize) {
        return new ReadinessTransport(stream, sink, bufferSize);
    }

    @Override
    AcceptDescriptor watch(StreamListener listener) {
        ReadinessDescriptor descriptor = manager.register(listener);
        return new AcceptDescriptor() {
            @Override
            public void notifyWhenAcceptable(Runnable callback) {
                descriptor.notifyWhenReadable(callback);
            }

            @Override
            public boolean isClosed() {
                return descriptor.isClosed();
            }

            @Override
            public void close() {
                manager.delete(descriptor);
            }
        };
    }

    /**
     * Runs a call that asks for a notification. A manager that is ending closes its descriptors without telling the
     * loop; then the call is ignored, because the end of everything on this loop follows.
     */
    private static void ask(ReadinessDescriptor descriptor, Runnable question) {
        try {
            question.run();
        } catch (IllegalStateException e) {
            if (!descriptor.isClosed()) {
                throw e;
            }
        }
    }

    /** A connection on a readiness descriptor: reads when notified, then asks for the next notification. */
    private final class ReadinessTransport extends DescriptorTransport {
        /** How many reads of one connection are made before the others have their turn. */
        private static final int READS = 16;

        private static final int READ_SHARE = 1 << 20;

        private final ReadinessDescriptor descriptor;
        private long share = FILE_SHARE;

        ReadinessTransport(ByteStream stream, TransportSink sink, int bufferSize) {
            super(stream, sink, bufferSize);
            this.descriptor = manager.register(stream);
        }

        @Override
        void start() {
            if (connecting) {
                awaitConnect();
            } else {
                armRead();
            }
        }

        private void awaitConnect() {
            ask(descriptor, () -> descriptor.notifyWhenWritable(() -> execute(this::tryConnect)));
        }

        private void tryConnect() {
            if (isClosed()) {
                return;
            }
            if (finishConnect()) {
                armRead();
            } else {
                awaitConnect();
            }
        }

        private void armRead() {
            if (!isClosed() && !paused && !ended && !reading && !descriptor.isClosed()) {
                reading = true;
                ask(descriptor, () -> descriptor.notifyWhenReadable(() -> execute(this::read)));
            }
        }

        private void read() {
            reading = false;
            if (drain()) {
                armRead();
            } else if (!isClosed() && !paused && !ended) {
                reading = true;
                execute(this::read); // after the other connections
            }
        }

        /** Reads what has arrived, up to a share. Returns true if it met would-block. */
        private boolean drain() {
            try {
                int share = READ_SHARE;
                for (int reads = 0; reads < READS && share > 0 && !isClosed() && !paused; reads++) {
                    int got = stream.tryRead(buffer.clear());
                    if (got == Io.WOULD_BLOCK) {
                        return true;
                    }
                    if (got == Io.EOF) {
                        ended = true;
                        sink.onEndOfInput();
                        return false;
                    }
                    share -= got;
                    sink.onReceived(buffer.flip());
                }
            } catch (IOException e) {
                fail(e);
            }
            return false;
        }

        @Override
        public boolean send(ByteBuffer[] buffers, int first, int count) throws IOException {
            for (int i = first; i < first + count; i++) {
                if (!send(buffers[i])) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public boolean send(ByteBuffer buffer) throws IOException {
            while (!full && buffer.hasRemaining()) {
                if (stream.tryWrite(buffer) == Io.WOULD_BLOCK) {
                    armWrite();
                }
            }
            return !buffer.hasRemaining();
        }

        @Override
        public long sendFile(FileSource file, long position, long count) throws IOException {
            long moved = 0;
            while (moved < count && !full) {
                long sent = share == 0 ? 0 : stream.trySend(file, position + moved, Math.min(count - moved, share));
                if (sent == Io.WOULD_BLOCK) {
                    armWrite();
                } else if (sent == Io.EOF && moved == 0) {
                    return Io.EOF;
                } else if (sent <= 0) {
                    // The share is used up, or the file has ended, which the next call will report.
                    full = true;
                    execute(this::resumeWrites);
                } else {
                    moved += sent;
                    share -= sent;
                }
            }
            return moved;
        }

        private void armWrite() {
            full = true;
            ask(descriptor, () -> descriptor.notifyWhenWritable(() -> execute(this::resumeWrites)));
        }

        private void resumeWrites() {
            full = false;
            share = FILE_SHARE;
            if (!isClosed()) {
                sink.onWritable();
            }
        }

        @Override
        public boolean hasInput() {
            return !ended && isInputInSocket();
        }

        @Override
        public void readNow() {
            if (!connecting && !ended) {
                drain(); // a pending notification stays pending; it finds nothing, which is harmless
            }
        }

        @Override
        public void resume() {
            if (paused) {
                paused = false;
                // Reads at once instead of asking for a notification: bytes that arrived earlier are not reported
                // again.
                if (!reading && !ended) {
                    reading = true;
                    execute(this::read);
                }
            }
        }

        @Override
        void closeDescriptor() {
            try {
                manager.delete(descriptor);
            } finally {
                stream.close();
            }
        }
    }
}
