package io.millrace.sys.posix;

import io.millrace.sys.call.NativePaths;
import io.millrace.sys.call.Os;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** The names of Unix sockets as the kernel's bytes. */
public final class UnixNames {
    /** The longest name: the kernel's struct has room for it and a zero byte. */
    public static final int MAX_BYTES = Os.current().isBsd() ? 103 : 107;

    private UnixNames() {}

    /** Returns a path as it is: a relative one stays relative, because it is shorter. */
    public static byte[] ofPath(Path path) {
        byte[] whole = NativePaths.bytes(path);
        if (path.isAbsolute()) {
            return whole;
        }
        int directory = NativePaths.bytes(Path.of("")).length;
        boolean endsInSlash = directory > 0 && whole[directory - 1] == '/';
        int begin = endsInSlash ? directory : directory + 1;
        return Arrays.copyOfRange(whole, Math.min(begin, whole.length), whole.length); // an empty path is no name
    }

    /** Returns a name in Linux's abstract namespace, which begins with a zero byte. */
    public static byte[] ofAbstract(String name) {
        return ("\0" + name).getBytes(StandardCharsets.UTF_8);
    }

    /** Returns whether the kernel's struct can hold it. */
    public static boolean fits(byte[] name) {
        return name.length > 0 && name.length <= MAX_BYTES + (name[0] == 0 ? 1 : 0);
    }
}
