package io.millrace.net;

import io.millrace.sys.posix.UnixDatagrams;
import io.millrace.sys.posix.UnixNames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What a service manager such as systemd tells a process by its environment, and what the process tells it: the
 * protocols of sd_listen_fds(3) and sd_notify(3).
 *
 * <p><b>Threads.</b> Any thread may call any method. Nothing here waits.
 *
 * <h2>Portability</h2>
 * Needs a Unix system and native access for the module {@code io.millrace.sys}; any program can be such a manager.
 */
public final class Systemd {
    /** SD_LISTEN_FDS_START: behind the standard streams. */
    private static final int FIRST = 3;

    private static final AtomicBoolean TAKEN = new AtomicBoolean();

    private Systemd() {}

    /**
     * Returns the sockets that the service manager has opened for this process: those of a socket unit. They are meant
     * for this process if LISTEN_PID says so; then LISTEN_FDS tells how many there are, and LISTEN_FDNAMES their names.
     *
     * @return to be used or closed by the caller. Empty if there are none, if they are meant for another process, and
     *     when called again, because they can be taken once
     * @throws IOException if the variables do not make sense, or tell of a descriptor that is not open
     * @throws IllegalStateException if there are sockets, but native access is denied
     */
    public static List<PassedDescriptor> sockets() throws IOException {
        if (TAKEN.get()) {
            return List.of();
        }
        List<PassedDescriptor> sockets =
                sockets(System.getenv(), ProcessHandle.current().pid(), FIRST);
        TAKEN.set(true);
        return sockets;
    }

    static List<PassedDescriptor> sockets(Map<String, String> environment, long pid, int first) throws IOException {
        String meant = environment.get("LISTEN_PID");
        String count = environment.get("LISTEN_FDS");
        if (meant == null || count == null || !meant.equals(Long.toString(pid))) {
            return List.of(); // as sd_listen_fds does: the variables of a parent are inherited
        }
        int last;
        try {
            last = Math.addExact(first, Integer.parseUnsignedInt(count));
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IOException("cannot take over sockets: LISTEN_FDS is " + count + ", which is not a count", e);
        }
        String[] names = environment.getOrDefault("LISTEN_FDNAMES", "").split(":", -1);
        List<PassedDescriptor> sockets = new ArrayList<>();
        try {
            for (int fd = first; fd < last; fd++) {
                sockets.add(PassedDescriptor.owned(fd, fd - first < names.length ? names[fd - first] : ""));
            }
            return List.copyOf(sockets);
        } catch (IllegalArgumentException e) {
            sockets.forEach(PassedDescriptor::close);
            throw new IOException(
                    "cannot take over the " + count + " sockets that LISTEN_FDS tells of: " + e.getMessage()
                            + "; they begin with fd " + first + ", and whatever starts Java must leave them open",
                    e);
        }
    }

    /**
     * Tells the service manager about this process: {@code READY=1}, {@code STOPPING=1}, {@code STATUS=…}, {@code
     * MAINPID=…}, {@code WATCHDOG=1}.
     *
     * @param state one assignment or more, each on a line
     * @return false if no manager wants to know: NOTIFY_SOCKET is not set
     * @throws IOException if it cannot be told
     */
    public static boolean notify(String state) throws IOException {
        return notify(System.getenv("NOTIFY_SOCKET"), state);
    }

    static boolean notify(@Nullable String socket, String state) throws IOException {
        if (socket == null || socket.isEmpty()) {
            return false;
        }
        if (!socket.startsWith("/") && !socket.startsWith("@")) {
            throw new IOException("cannot notify the service manager: NOTIFY_SOCKET is " + socket
                    + ", which is neither an absolute path nor an abstract name");
        }
        Net.natively();
        byte[] name =
                socket.startsWith("@") ? UnixNames.ofAbstract(socket.substring(1)) : UnixNames.ofPath(Path.of(socket));
        UnixDatagrams.send(name, state.getBytes(StandardCharsets.UTF_8));
        return true;
    }
}
