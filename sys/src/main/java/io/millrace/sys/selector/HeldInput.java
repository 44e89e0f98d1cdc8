package io.millrace.sys.selector;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor that is readable while another one is, and also while its owner holds input that was read but not taken:
 * a separate epoll over that descriptor and an eventfd. So a source that reads ahead works with every trigger and
 * backend. Linux only.
 *
 * <p>If epoll is denied, the other descriptor is used alone, and held input is not reported.
 *
 * <p><b>Threads.</b> The caller serializes {@link #hold} and {@link #close}.
 */
public final class HeldInput {
    private final Descriptor descriptor;
    private final @Nullable WakeFd held;
    private boolean holds;

    private HeldInput(Descriptor descriptor, @Nullable WakeFd held) {
        this.descriptor = descriptor;
        this.held = held;
    }

    /**
     * Opens it.
     *
     * @param input belongs to the owner, which closes it
     * @throws ErrnoException if too many files are open
     */
    public static HeldInput over(Descriptor input) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int epoll = EpollSelector.Calls.create1(state);
            if (epoll == -Errno.ENOSYS.code() || epoll == -Errno.EPERM.code()) {
                return new HeldInput(input, null);
            }
            Descriptor descriptor = new Descriptor(Downcall.check("epoll_create1", -1, epoll), true);
            WakeFd held = null;
            boolean done = false;
            try {
                held = WakeFd.open();
                add(state, epoll, input.fd());
                add(state, epoll, held.fd());
                done = true;
                return new HeldInput(descriptor, held);
            } finally {
                if (!done) {
                    descriptor.close();
                    if (held != null) {
                        held.close();
                    }
                }
            }
        }
    }

    private static void add(CallState state, int epoll, int fd) throws ErrnoException {
        int result = EpollSelector.Calls.ctl(state, epoll, EpollSelector.CTL_ADD, fd, EpollSelector.EPOLLIN, 0);
        Downcall.check("epoll_ctl(ADD)", fd, result);
    }

    /** Returns the descriptor to register. */
    public Descriptor descriptor() {
        return descriptor;
    }

    /** Sets whether the owner holds input. Costs a system call if that has changed. */
    public void hold(boolean holding) {
        WakeFd flag = held;
        if (flag == null || holding == holds) {
            return;
        }
        holds = holding;
        if (holding) {
            flag.wake();
        } else {
            try (CallState state = CallState.borrow()) {
                flag.drain(state, state.scratch(), CallState.SCRATCH_BYTES);
            }
        }
    }

    /** Called after the owner has closed what it registered: see {@link #descriptor}. */
    public void close() {
        if (held != null) {
            held.close();
        }
    }

    @Override
    public String toString() {
        return descriptor + (holds ? ", holds input" : "");
    }
}
