package io.millrace.sys;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;

/**
 * Waits for one handle and for nothing else: poll(2) on a single descriptor, which knows no limit of descriptor numbers and needs
 * no kernel object; for a channel, a selector of its own.
 */
public final class WaitOne {
    private WaitOne() {}

    /**
     * Waits until the handle is ready, the time is over, or the call is interrupted by a signal.
     *
     * @param timeoutNanos negative: for ever; 0: not at all; else at least so long
     * @return what it is ready for, within the interest; 0 if nothing
     */
    public static int await(Handle handle, int interest, long timeoutNanos) throws IOException {
        if (!handle.acquire()) {
            throw new ClosedChannelException();
        }
        try {
            return switch (handle) {
                case Descriptor descriptor -> poll(descriptor, interest, timeoutNanos);
                case NioHandle channel -> select(channel, interest, timeoutNanos);
            };
        } finally {
            handle.release();
        }
    }

    private static int poll(Descriptor descriptor, int interest, long timeoutNanos) throws IOException {
        CallState state = CallState.current();
        long pollfd = state.scratch();
        Posix.putInt(pollfd, descriptor.fd());
        Posix.putShort(pollfd + 4, PollSelector.mask(interest));
        Posix.putShort(pollfd + 6, (short) 0);
        int found = Posix.poll(state, pollfd, 1, Millis.ceil(timeoutNanos));
        if (found < 0 && found != -Errno.EINTR.code()) {
            throw new ErrnoException("poll", descriptor.fd(), -found);
        }
        short revents = found <= 0 ? 0 : Posix.getShort(pollfd + 6);
        if ((revents & Posix.POLLNVAL) != 0) {
            throw new ErrnoException("poll", descriptor.fd(), Errno.EBADF.code());
        }
        return Bits.visible(PollSelector.translate(revents), interest);
    }

    private static int select(NioHandle handle, int interest, long timeoutNanos) throws IOException {
        try (java.nio.channels.Selector selector = handle.channel().provider().openSelector()) {
            SelectionKey key = handle.channel().register(selector, NioSelector.ops(handle, interest));
            if (timeoutNanos == 0) {
                selector.selectNow();
            } else {
                selector.select(timeoutNanos < 0 ? 0 : Math.max(1, Millis.ceil(timeoutNanos)));
            }
            return Bits.visible(NioSelector.translate(key.readyOps()), interest);
        }
    }
}
