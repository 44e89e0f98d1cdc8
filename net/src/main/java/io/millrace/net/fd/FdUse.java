package io.millrace.net.fd;

import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/** Holds a use of a descriptor during each call, so that its number stays valid until the call has ended. */
final class FdUse {
    private FdUse() {}

    /**
     * Begins a use; {@link Descriptor#release} ends it.
     *
     * @return the number
     * @throws ClosedChannelException if the descriptor is closed
     */
    static int begin(Descriptor descriptor) throws ClosedChannelException {
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        return descriptor.fd();
    }

    static int get(Descriptor descriptor, SocketSetting setting) throws IOException {
        int fd = begin(descriptor);
        try {
            return setting.get(fd);
        } finally {
            descriptor.release();
        }
    }

    static void set(Descriptor descriptor, SocketSetting setting, int value) throws IOException {
        int fd = begin(descriptor);
        try {
            setting.set(fd, value);
        } finally {
            descriptor.release();
        }
    }
}
