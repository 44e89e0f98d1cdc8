package io.millrace.net.nio;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.FileCalls;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.SourceHandle;
import io.millrace.sys.call.Scratch;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * A file with a {@code java.nio} channel. Selectors do not accept such channels and need not: a software registration
 * that is always ready represents it.
 *
 * <p>NIO copies a heap buffer through a direct one of the same size, which it caches for the thread; so such a call
 * moves no more than with descriptors.
 *
 * <p>NIO closes a file's channel when an interrupted thread uses it, and thereby the file for everyone who shares it.
 * Files of the other family ignore interrupts, and so does this one: the interrupt status is cleared during a call and
 * restored afterwards. An interrupt that arrives in the middle of a call still closes it.
 */
final class NioFile implements FileCalls {
    private final FileChannel channel;
    private final Registration registration = new Registration();

    NioFile(FileChannel channel) {
        this.channel = channel;
        registration.setReadiness(Readiness.READ_WRITE);
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
        int limit = into.limit();
        into.limit(into.position() + moved(into));
        boolean interrupted = Thread.interrupted();
        try {
            if (!into.hasRemaining()) {
                requireOpen();
                return 0;
            }
            return position == NEXT ? channel.read(into) : channel.read(into, position);
        } catch (NonReadableChannelException e) {
            throw new IOException("cannot read from " + this + ": it was opened for writing only", e);
        } finally {
            into.limit(limit);
            restore(interrupted);
        }
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        int limit = from.limit();
        from.limit(from.position() + moved(from));
        boolean interrupted = Thread.interrupted();
        try {
            if (!from.hasRemaining()) {
                requireOpen();
                return 0;
            }
            return position == NEXT ? channel.write(from) : channel.write(from, position);
        } catch (NonWritableChannelException e) {
            throw new IOException("cannot write to " + this + ": it was opened for reading only", e);
        } finally {
            from.limit(limit);
            restore(interrupted);
        }
    }

    /** Restores the interrupt status that was cleared for a call. */
    private static void restore(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public int read(MemorySegment into, long position) throws IOException {
        if (into.isNative()) {
            return read(NioBytes.view(into), position);
        }
        int asked = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            try {
                int moved = read(scratch.view(asked), position);
                if (moved > 0) {
                    scratch.give(into, moved);
                }
                return moved;
            } finally {
                scratch.clearView();
            }
        }
    }

    @Override
    public int write(MemorySegment from, long position) throws IOException {
        if (from.isNative()) {
            return write(NioBytes.view(from), position);
        }
        int asked = (int) Math.min(from.byteSize(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            scratch.take(from, asked);
            try {
                return write(scratch.view(asked), position);
            } finally {
                scratch.clearView();
            }
        }
    }

    private static int moved(ByteBuffer buffer) {
        return buffer.isDirect() ? buffer.remaining() : Math.min(buffer.remaining(), Scratch.MAX_BYTES);
    }

    /** Sends to a non-blocking channel. Returns the count, 0 if it takes nothing now, or end of file. */
    long sendTo(WritableByteChannel to, long position, long bytes) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            long moved = channel.transferTo(position, bytes, to);
            return moved == 0 && position >= channel.size() ? ByteCalls.EOF : moved;
        } catch (NonReadableChannelException e) {
            throw new IOException("cannot read from " + this + ": it was opened for writing only", e);
        } finally {
            restore(interrupted);
        }
    }

    @Override
    public void requireOpen() throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public long size() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            return channel.size();
        } finally {
            restore(interrupted);
        }
    }

    @Override
    public Instant modified(Path openedAs) throws IOException {
        requireOpen();
        return Files.getLastModifiedTime(openedAs).toInstant();
    }

    @Override
    public Path realPath(Path openedAs) throws IOException {
        requireOpen();
        return openedAs.toRealPath();
    }

    @Override
    public void force(boolean metadata) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            channel.force(metadata);
        } finally {
            restore(interrupted);
        }
    }

    @Override
    public void close() {
        registration.close();
        try {
            channel.close();
        } catch (IOException e) {
            // The descriptor is gone in any case; all that is left is to log it.
            System.getLogger("io.millrace").log(Level.DEBUG, () -> "closing " + channel, e);
        }
    }

    @Override
    public String toString() {
        return "a channel" + (channel.isOpen() ? "" : " (closed)");
    }
}
