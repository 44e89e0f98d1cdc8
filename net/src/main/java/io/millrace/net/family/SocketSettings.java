package io.millrace.net.family;

import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;

/** What a socket of either family can be asked and told. A call on a closed one throws ClosedChannelException. */
public interface SocketSettings {
    int get(SocketSetting setting) throws IOException;

    void set(SocketSetting setting, int value) throws IOException;

    /** The check that both families owe their callers. */
    static int requireBufferSize(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a socket's buffer has at least 1 byte: " + bytes);
        }
        return bytes;
    }
}
