package io.millrace.sys.selector;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.NioHandle;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;

/**
 * Waits for one handle and nothing else: with poll(2) on its descriptor, which has no limit of descriptor numbers, and
 * on another one that ends the wait if the handle is closed; for a channel, with a separate selector.
 */
public final class SingleWait {
    private static final int POLLFD_BYTES = 8;
    private static final int REVENTS = 6;
    /** The kernel skips a negative number. */
    private static final int IGNORED = -1;

    private SingleWait() {}

    /**
     * Waits until the handle is ready, the time is over, or a signal interrupts the call.
     *
     * @param timeoutNanos negative to wait for ever; 0 to not wait; otherwise the least time to wait
     * @return what it is ready for, within the interest; 0 if nothing
     * @throws ClosedChannelException if the handle is closed, even if another thread closes it meanwhile
     */
    public static int await(SystemHandle handle, int interest, long timeoutNanos) throws IOException {
        if (!handle.acquire()) {
            throw new ClosedChannelException();
        }
        try {
            return switch (handle) {
                case Descriptor descriptor ->
                    timeoutNanos == 0 ? look(descriptor, interest) : poll(descriptor, interest, timeoutNanos);
                case NioHandle channel -> select(channel, interest, timeoutNanos);
            };
        } finally {
            handle.release();
        }
    }

    private static int look(Descriptor descriptor, int interest) throws IOException {
        try (CallState state = CallState.borrow()) {
            long pollfds = state.scratch();
            put(pollfds, descriptor.fd(), PollSelector.mask(interest));
            return found(descriptor, interest, pollfds, Posix.poll(state, pollfds, 1, 0));
        }
    }

    /** A second descriptor ends the wait if another thread closes the first. */
    private static int poll(Descriptor descriptor, int interest, long timeoutNanos) throws IOException {
        try (CallState state = CallState.borrow()) {
            WakeFd closing = WakeFd.open();
            Runnable waker = closing::wake;
            try {
                descriptor.waiters.add(waker);
                if (descriptor.isClosing()) {
                    throw new ClosedChannelException();
                }
                long pollfds = state.scratch();
                put(pollfds, interest == 0 ? IGNORED : descriptor.fd(), PollSelector.mask(interest));
                put(pollfds + POLLFD_BYTES, closing.fd(), Posix.POLLIN);
                long start = System.nanoTime();
                int found = Posix.poll(state, pollfds, 2, Millis.ceil(timeoutNanos));
                int ready = found(descriptor, interest, pollfds, found);
                if (ready == 0 && found > 0 && !descriptor.isClosing()) {
                    // A hang-up outside the interest would end every further wait at once: all that is left to wait for
                    // is the close.
                    put(pollfds, IGNORED, (short) 0);
                    long left = timeoutNanos < 0 ? -1 : Math.max(0, timeoutNanos - (System.nanoTime() - start));
                    found(descriptor, interest, pollfds, Posix.poll(state, pollfds, 2, Millis.ceil(left)));
                }
                if (descriptor.isClosing()) {
                    throw new ClosedChannelException();
                }
                return ready;
            } finally {
                descriptor.waiters.remove(waker);
                closing.close();
            }
        }
    }

    private static void put(long pollfd, int fd, short events) {
        Posix.putInt(pollfd, fd);
        Posix.putShort(pollfd + 4, events);
        Posix.putShort(pollfd + REVENTS, (short) 0);
    }

    private static int found(Descriptor descriptor, int interest, long pollfds, int found) throws ErrnoException {
        if (found < 0 && !Errno.isInterrupted(found)) {
            throw new ErrnoException("poll", descriptor.fd(), -found);
        }
        short revents = found <= 0 ? 0 : Posix.getShort(pollfds + REVENTS);
        if ((revents & Posix.POLLNVAL) != 0) {
            throw new ErrnoException("poll", descriptor.fd(), Errno.EBADF.code());
        }
        return Bits.visible(PollSelector.translate(revents), interest);
    }

    private static int select(NioHandle handle, int interest, long timeoutNanos) throws IOException {
        try (java.nio.channels.Selector selector = handle.channel().provider().openSelector()) {
            Runnable waker = selector::wakeup;
            handle.waiters.add(waker);
            boolean interrupted =
                    Thread.interrupted(); // cleared, because a select by an interrupted thread does not wait
            try {
                SelectionKey key = handle.channel().register(selector, NioSelector.ops(handle, interest));
                if (timeoutNanos == 0) {
                    selector.selectNow();
                } else {
                    selector.select(timeoutNanos < 0 ? 0 : Math.max(1, Millis.ceil(timeoutNanos)));
                }
                return Bits.visible(NioSelector.translate(key.readyOps()), interest);
            } catch (CancelledKeyException e) {
                throw closed(e);
            } finally {
                handle.waiters.remove(waker);
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** NIO reports in this way that the channel was closed during the select. */
    private static IOException closed(CancelledKeyException cause) {
        ClosedChannelException closed = new ClosedChannelException();
        closed.initCause(cause);
        return closed;
    }
}
