package io.millrace.net.family;

import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.util.Map;

/** Gets and sets the options of a socket of either family. Calls on a closed socket throw ClosedChannelException. */
public interface SocketSettings {
    int get(SocketSetting setting) throws IOException;

    void set(SocketSetting setting, int value) throws IOException;

    /** Sets all of these, in order. */
    default void setAll(Map<SocketSetting, Integer> values) throws IOException {
        for (Map.Entry<SocketSetting, Integer> each : values.entrySet()) {
            set(each.getKey(), each.getValue());
        }
    }

    /** The check that both families make. */
    static int requireBufferSize(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a socket's buffer has at least 1 byte: " + bytes);
        }
        return bytes;
    }
}
