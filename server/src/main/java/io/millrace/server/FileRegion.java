package io.millrace.server;

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

/** A piece of an open file on its way out. Holds a descriptor and none of the bytes. Whoever has it closes it. */
final class FileRegion {
    /** Instead of a count: to the end of the file. */
    static final long TO_END = -1;

    /**
     * Up to here the bytes themselves are queued: a copy costs no more than a call, and a peer that asks for many small files and reads none of them must not
     * take all descriptors before it has reached the high-water mark.
     */
    static final int SMALL = 4096;

    private final FileSource file;
    private long position;
    private long left;

    /** Where it is counted while it waits. */
    private @Nullable WriteQueue counted;

    private @Nullable StreamConnection connection;

    // Of the queue that it is in.
    long behind;

    @Nullable
    FileRegion next;

    private FileRegion(FileSource file, long position, long left) {
        this.file = file;
        this.position = position;
        this.left = left;
    }

    static FileRegion open(Net net, Path path, long position, long count) throws IOException {
        FileSource file = net.file(path, StandardOpenOption.READ);
        boolean done = false;
        try {
            long there = file.size() - position;
            if (there < count) {
                throw new EOFException("cannot send " + count + " bytes of " + path + " from byte " + position
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

    /** It waits from now on, until it is closed: there, or on its way there. */
    void waitsFor(WriteQueue queue, StreamConnection connection) {
        this.counted = queue;
        this.connection = connection;
        queue.countFile(1, left);
        connection.chargeFiles(1);
    }

    /** How many bytes are still to be sent. */
    long left() {
        return left;
    }

    /** Reads all of it, which is not much. */
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

    /** Sends what the system takes now: how many bytes. */
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
