package io.millrace.server.connection;

import io.millrace.engine.transport.StreamTransport;
import io.millrace.net.FileSource;
import io.millrace.net.Io;
import io.millrace.net.Net;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Part of an open file that is waiting to be sent. Holds a descriptor but none of the bytes; its current holder must
 * close it.
 */
final class FileRegion {
    /** Used as a count: up to the end of the file. */
    static final long TO_END = -1;

    /**
     * Files up to this size are read and queued as bytes. The copy costs no more than a system call, and a peer that
     * requests many small files without reading any must not exhaust the descriptors before it reaches the high-water
     * mark.
     */
    static final int SMALL = 4096;

    private final FileSource file;
    private long position;
    private long left;

    /** The queue that counts it while it waits. */
    private @Nullable WriteQueue counted;

    private @Nullable ConnectionOutput connection;

    // Used by the queue that holds it.
    long behind;

    @Nullable
    FileRegion next;

    private FileRegion(FileSource file, long position, long left) {
        this.file = file;
        this.position = position;
        this.left = left;
    }

    static FileRegion open(Net net, Path path, long position, long count) throws IOException {
        return of(net.file(path, StandardOpenOption.READ), position, count);
    }

    /** Takes a file over, and closes it if this fails. */
    static FileRegion of(FileSource file, long position, long count) throws IOException {
        boolean done = false;
        try {
            long there = file.size() - position;
            if (there < count) {
                throw new EOFException("cannot send " + count + " bytes of " + file.path() + " from byte " + position
                        + " on: the file has only " + file.size());
            }
            FileRegion region = new FileRegion(file, position, count == TO_END ? there : count);
            done = true;
            return region;
        } finally {
            if (!done) {
                file.close();
            }
        }
    }

    /** Counts the file as waiting in {@code queue}, from before it gets there until it is closed. */
    void waitIn(WriteQueue queue, ConnectionOutput connection) {
        this.counted = queue;
        this.connection = connection;
        queue.countFile(1, left);
        connection.chargeFiles(1);
    }

    /** Returns how many bytes are still to be sent. */
    long left() {
        return left;
    }

    /** Reads the whole region into memory. For small files only. */
    ByteBuffer read() throws IOException {
        ByteBuffer all = ByteBuffer.allocate((int) left);
        while (all.hasRemaining()) {
            int read = file.tryRead(all, position);
            if (read == Io.EOF) {
                throw shrunk();
            }
            position += read;
            left -= read;
        }
        return all.flip();
    }

    /** Sends as much as the system takes now, and returns how many bytes that was. */
    long sendTo(StreamTransport transport) throws IOException {
        long sent = transport.sendFile(file, position, left);
        if (sent == Io.EOF) {
            throw shrunk();
        }
        position += sent;
        left -= sent;
        if (counted != null) {
            counted.countFile(0, -sent);
        }
        return sent;
    }

    private EOFException shrunk() {
        return new EOFException("cannot send " + file.path() + " to its end: it was truncated meanwhile, to "
                + position + " bytes or fewer, but " + left
                + " more were to be sent; to change a file that is being sent, write a new one and rename it");
    }

    void close() {
        file.close();
        if (counted != null && connection != null) {
            counted.countFile(-1, -left);
            connection.chargeFiles(-1);
            counted = null;
        }
    }

    @Override
    public String toString() {
        return left + " bytes of " + file.path() + " from byte " + position;
    }
}
