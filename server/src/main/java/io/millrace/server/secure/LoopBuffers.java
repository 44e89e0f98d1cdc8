package io.millrace.server.secure;

import io.millrace.engine.transport.ServerLoop;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The buffers in which the TLS connections of a loop encrypt and decrypt, one after the other, so that none of them
 * needs its own. Created at the first use. Used by one thread at a time, except for {@link #of}.
 *
 * <p>They are on the heap: the engine works on arrays, and takes twice as long with direct buffers. So what a system call
 * has put into a direct buffer is copied before it is decrypted, which takes less time than it saves.
 */
final class LoopBuffers {
    /** Room for the longest record, as plaintext or ciphertext, as the engine wants it. */
    static final int RECORD = 17 * 1024;

    private static final int PLAIN = 64 * 1024 + RECORD;
    private static final int CIPHER = 4 * RECORD + RECORD;
    private static final int FILE = 64 * 1024;

    /** As much as is read at once. */
    private static final int RECEIVED = TlsTransport.SHARED_READ;

    private static final Map<ServerLoop, LoopBuffers> ALL = new WeakHashMap<>();

    private @Nullable ByteBuffer plain;
    private boolean plainLent;
    private @Nullable ByteBuffer received;
    private boolean receivedLent;
    private @Nullable ByteBuffer cipher;
    private @Nullable ByteBuffer file;
    private final @Nullable ByteBuffer[] one = new @Nullable ByteBuffer[1];
    private int[] positions = new int[64];

    /** Returns the buffers of a loop. Any thread. */
    static LoopBuffers of(ServerLoop loop) {
        synchronized (ALL) {
            return ALL.computeIfAbsent(loop, same -> new LoopBuffers());
        }
    }

    /** Returns an empty buffer for plaintext, which must be given back. Handlers are called with it. */
    ByteBuffer borrowPlain() {
        if (plainLent) {
            return ByteBuffer.allocate(PLAIN);
        }
        ByteBuffer present = plain;
        if (present == null) {
            present = ByteBuffer.allocate(PLAIN);
            plain = present;
        }
        plainLent = true;
        return present.clear();
    }

    /**
     * Takes some bytes, and returns them in a buffer on the heap, which must be given back. If they are there already, or
     * if this is called while a handler is, it is the same buffer.
     */
    ByteBuffer borrowOnHeap(ByteBuffer data) {
        if (!data.isDirect() || receivedLent || data.remaining() > RECEIVED) {
            return data;
        }
        ByteBuffer present = received;
        if (present == null) {
            present = ByteBuffer.allocate(RECEIVED);
            received = present;
        }
        receivedLent = true;
        return present.clear().put(data).flip();
    }

    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    void giveBack(ByteBuffer buffer) {
        if (buffer == plain) {
            plainLent = false;
        } else if (buffer == received) {
            receivedLent = false;
        }
    }

    /** Returns an empty buffer for ciphertext. Nobody is called while it is in use. */
    ByteBuffer cipher() {
        ByteBuffer present = cipher;
        if (present == null) {
            present = ByteBuffer.allocate(CIPHER);
            cipher = present;
        }
        return present.clear();
    }

    /** Returns an empty buffer for a piece of a file. */
    ByteBuffer file() {
        ByteBuffer present = file;
        if (present == null) {
            present = ByteBuffer.allocate(FILE);
            file = present;
        }
        return present.clear();
    }

    /** Returns an array that contains only this buffer; until {@link #clearOne}. */
    @SuppressWarnings("NullAway") // its element is set
    ByteBuffer[] one(ByteBuffer buffer) {
        one[0] = buffer;
        return one;
    }

    void clearOne() {
        one[0] = null;
    }

    /** Returns the positions of some buffers, from index 0 on. */
    int[] positions(ByteBuffer[] of, int first, int end) {
        if (positions.length < end - first) {
            positions = new int[end - first];
        }
        for (int i = first; i < end; i++) {
            positions[i - first] = of[i].position();
        }
        return positions;
    }
}
