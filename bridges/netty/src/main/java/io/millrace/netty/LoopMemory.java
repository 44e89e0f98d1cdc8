package io.millrace.netty;

import io.millrace.sys.call.AddressVector;
import io.millrace.sys.call.BufferAddress;
import io.millrace.sys.call.CallState;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;

/**
 * The native memory that the calls of one loop share: where {@code errno} goes, and the addresses of a gathering write.
 * Used on the loop's thread only; freed by the garbage collector, because closing an arena per loop would stop every
 * thread of the process for a moment.
 */
final class LoopMemory implements ChannelOutboundBuffer.MessageProcessor {
    final CallState calls = CallState.forLoop();
    final AddressVector vector = new AddressVector();
    private long most;

    /** Collects the addresses of flushed messages, up to the first that is not bytes, or {@code most} bytes. */
    void gather(ChannelOutboundBuffer from, long most) throws Exception {
        vector.clear();
        this.most = most;
        from.forEachFlushedMessage(this);
    }

    @Override
    public boolean processMessage(Object message) {
        return message instanceof ByteBuf bytes && add(bytes);
    }

    /** Returns false if there is no room for more. */
    private boolean add(ByteBuf bytes) {
        int index = bytes.readerIndex();
        int length = bytes.readableBytes();
        if (length == 0) {
            return true;
        }
        // At least one piece is always taken, however small the limit.
        if (vector.isFull() || (vector.count() > 0 && vector.bytes() + length > most)) {
            return false;
        }
        if (bytes.hasMemoryAddress()) {
            vector.add(bytes.memoryAddress() + index, length);
            return true;
        }
        if (bytes.nioBufferCount() == 1) {
            return add(bytes.internalNioBuffer(index, length));
        }
        for (ByteBuffer part : bytes.nioBuffers(index, length)) {
            if (vector.isFull() || !add(part)) {
                return false;
            }
        }
        return true;
    }

    private boolean add(ByteBuffer part) {
        vector.add(addressOf(part), part.remaining());
        return true;
    }

    /** Returns the address of the first byte that a direct buffer has left; its owner keeps the buffer's memory. */
    static long addressOf(ByteBuffer direct) {
        return BufferAddress.ofOwn(direct) + direct.position();
    }
}
