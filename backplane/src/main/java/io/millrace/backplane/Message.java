package io.millrace.backplane;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A message of a topic, as subscribers get it. It may be kept. */
public final class Message {
    private final @Nullable Position position;
    private final String node;
    private final ByteBuffer data;

    Message(@Nullable Position position, String node, ByteBuffer data) {
        this.position = position;
        this.node = node;
        this.data = data;
    }

    /**
     * Returns the position behind this message: whoever comes back with it gets the next one first.
     *
     * @return null if it was delivered on this node only: see {@link Backplane.Builder#localWhenAway}
     */
    public @Nullable Position position() {
        return position;
    }

    /**
     * Returns the node that published it.
     *
     * @return its {@link Backplane#node}
     */
    public String node() {
        return node;
    }

    /**
     * Returns the bytes.
     *
     * @return a new read-only buffer at each call, over the same bytes
     */
    public ByteBuffer data() {
        return data.asReadOnlyBuffer();
    }

    @Override
    public String toString() {
        return "message " + position + " of " + node + ", " + data.remaining() + " bytes";
    }
}
