package io.millrace.sys.posix;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.NativePaths;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Child processes on Linux: posix_spawn, a pidfd that is readable when the child has ended, and its status from waitid.
 *
 * <p><b>Why not ProcessBuilder.</b> It hides its descriptors, and its reaper thread takes the status. The JVM's reaper
 * waits for the children that ProcessBuilder started, one by one, so it does not see ours, and we do not see its
 * children.
 *
 * <p><b>No race with a number that was reused.</b> A child that was not waited for keeps its number, as a zombie if it
 * has ended, and only this class waits for the children that it started. So the pidfd that is opened after the spawn
 * belongs to that child, and signals go through it.
 *
 * <p><b>What the child inherits.</b> Descriptors 0, 1 and 2 and no other: everything above is closed, even what is not
 * close-on-exec, such as sockets of the JDK (with glibc before 2.34 it is not, and close-on-exec decides). No signal is
 * blocked, and each has its default action.
 */
public final class Processes {
    /** For a standard stream of the child: the corresponding one of this process. */
    public static final int INHERIT = -1;
    /** For a standard stream of the child: {@code /dev/null}. */
    public static final int DISCARD = -2;

    /**
     * A child that was started.
     *
     * @param pid its number
     * @param pidfd readable when it has ended; must be closed by the caller
     */
    public record Started(int pid, Descriptor pidfd) {}

    /**
     * How a child ended.
     *
     * @param code its exit code, or −1 if a signal ended it
     * @param signal the signal's number, or 0
     */
    public record Ended(int code, int signal) {}

    /**
     * A pipe between us and a child.
     *
     * @param ours the end that never blocks
     * @param theirs the number of the end that does, as programs expect; not one of the first three
     */
    public record ChildPipe(Descriptor ours, Descriptor theirs) {}

    private static final int SYS_PIDFD_SEND_SIGNAL = 424;
    private static final int SYS_PIDFD_OPEN = 434;

    private static final int P_PID = 1;
    private static final int P_PIDFD = 3;
    private static final int WNOHANG = 1;
    private static final int WEXITED = 4;
    private static final int CLD_EXITED = 1;
    private static final int SIGKILL = 9;
    /** {@code siginfo_t} on 64 bits: the code, the pid and the status. */
    private static final int SIGINFO_BYTES = 128;

    private static final int SI_CODE = 8;
    private static final int SI_PID = 16;
    private static final int SI_STATUS = 24;

    private static final int SETSIGDEF = 0x04;
    private static final int SETSIGMASK = 0x08;
    private static final int SIGSET_BYTES = 128;
    /** More than glibc and musl need for the structs of attributes and file actions. */
    private static final int STRUCT_BYTES = 512;

    private static final int O_RDWR = 2;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;

    /** Children that were released before they ended: see {@link #abandon}. */
    private static final Queue<Integer> ABANDONED = new ConcurrentLinkedQueue<>();

    private Processes() {}

    /** Returns why children cannot be started here, or null if they can. The kernel is asked once. */
    public static @Nullable String refusal() {
        return Probe.REFUSAL;
    }

    private static final class Probe {
        static final @Nullable String REFUSAL = refusal();

        private static @Nullable String refusal() {
            if (Os.current() != Os.LINUX) {
                return "there is no pidfd on " + System.getProperty("os.name");
            }
            try (CallState state = CallState.borrow()) {
                int fd = pidfdOpen(state, (int) ProcessHandle.current().pid());
                if (fd == -Errno.EMFILE.code() || fd == -Errno.ENFILE.code()) {
                    return null; // temporary: let the spawn report it
                }
                if (fd < 0) {
                    return "pidfd_open failed: " + Errno.describe(-fd)
                            + "; it needs Linux 5.4, and a filter that allows it";
                }
                // We are not our own child, so a kernel that knows P_PIDFD returns ECHILD; an older one rejects the
                // argument.
                int waited = waitid(state, P_PIDFD, fd, WEXITED | WNOHANG, state.scratch());
                Posix.close(state, fd);
                return waited == -Errno.EINVAL.code() ? "waitid(P_PIDFD) failed: it needs Linux 5.4" : null;
            }
        }
    }

    /** Opens a pipe from which the child reads, or to which it writes. */
    public static ChildPipe pipe(boolean childReads) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int reader;
            int writer;
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment pair = arena.allocate(ValueLayout.JAVA_INT, 2);
                Downcall.check("pipe2", -1, Downcall.run(state, Spawn.PIPE2, pair.address(), Fds.O_CLOEXEC));
                reader = pair.getAtIndex(ValueLayout.JAVA_INT, 0);
                writer = pair.getAtIndex(ValueLayout.JAVA_INT, 1);
            }
            Descriptor ours = new Descriptor(childReads ? writer : reader, true);
            Descriptor theirs = new Descriptor(childReads ? reader : writer, true);
            boolean done = false;
            try {
                // The two ends are two open files: the flag is set only on ours, which no other process has seen yet.
                int flags = Posix.fcntl(state, ours.fd(), F_GETFL, 0);
                Downcall.check(
                        "fcntl(F_SETFL)", ours.fd(), Posix.fcntl(state, ours.fd(), F_SETFL, flags | Fds.O_NONBLOCK));
                if (theirs.fd() <= 2) {
                    // This process has no standard streams: in the child, the number would be overwritten before it is
                    // used.
                    Descriptor low = theirs;
                    theirs = new Descriptor(Fds.duplicate(low.fd()), true);
                    low.close();
                }
                done = true;
                return new ChildPipe(ours, theirs);
            } finally {
                if (!done) {
                    ours.close();
                    theirs.close();
                }
            }
        }
    }

    /**
     * Starts a program, and returns when the child runs it or has failed to.
     *
     * @param command the program (with a slash, or to be searched for in the PATH of this process) and its arguments
     * @param changed variables to set or, with null, to remove; if {@code onlyThese}, all that there are
     * @param directory where it starts, or null for the directory of this process
     * @param streams for 0, 1 and 2: a number of ours, {@link #INHERIT} or {@link #DISCARD}
     * @throws ErrnoException with the reason of posix_spawn
     */
    public static Started spawn(
            List<String> command,
            Map<String, @Nullable String> changed,
            boolean onlyThese,
            @Nullable Path directory,
            int[] streams)
            throws IOException {
        reapAbandoned();
        try (CallState state = CallState.borrow()) {
            int pid;
            try (Arena arena = Arena.ofConfined()) {
                long actions = arena.allocate(STRUCT_BYTES, 16).address();
                long attributes = arena.allocate(STRUCT_BYTES, 16).address();
                checkSpawn("posix_spawn_file_actions_init", Downcall.run(state, Spawn.ACTIONS_INIT, actions));
                try {
                    checkSpawn("posix_spawnattr_init", Downcall.run(state, Spawn.ATTR_INIT, attributes));
                    try {
                        addActions(state, arena, actions, directory, streams);
                        setAttributes(state, arena, attributes);
                        pid = spawn(state, arena, command, environment(changed, onlyThese), actions, attributes);
                    } finally {
                        Downcall.run(state, Spawn.ATTR_DESTROY, attributes);
                    }
                } finally {
                    Downcall.run(state, Spawn.ACTIONS_DESTROY, actions);
                }
            }
            int pidfd = pidfdOpen(state, pid);
            if (pidfd < 0) {
                // It must not keep running, because no one knows of it. It has been killed, so it ends very soon.
                Downcall.run(state, Spawn.KILL, pid, SIGKILL);
                waitFor(P_PID, pid, WEXITED);
                throw new ErrnoException("pidfd_open", -1, -pidfd);
            }
            return new Started(pid, new Descriptor(pidfd, true));
        }
    }

    private static void addActions(CallState state, Arena arena, long actions, @Nullable Path directory, int[] streams)
            throws ErrnoException {
        if (directory != null) {
            if (Changing.ADD_CHDIR == null) {
                throw new UnsupportedOperationException(
                        "cannot start a program in " + directory + ": this C library lacks " + Changing.NAME
                                + "; start it without a directory, or through a shell");
            }
            long path = Files.zeroTerminated(arena, NativePaths.bytes(directory));
            checkSpawn("addchdir_np", Downcall.run(state, Changing.ADD_CHDIR, actions, path));
        }
        for (int stream = 0; stream < streams.length; stream++) {
            if (streams[stream] >= 0) {
                checkSpawn("adddup2", Downcall.run(state, Spawn.ADD_DUP2, actions, streams[stream], stream));
            } else if (streams[stream] == DISCARD) {
                long path = arena.allocateFrom("/dev/null").address();
                checkSpawn("addopen", Downcall.run(state, Spawn.ADD_OPEN, actions, stream, path, O_RDWR, 0));
            }
        }
        if (Closing.ADD_CLOSE_FROM != null) {
            checkSpawn("addclosefrom_np", Downcall.run(state, Closing.ADD_CLOSE_FROM, actions, streams.length));
        }
    }

    private static void setAttributes(CallState state, Arena arena, long attributes) throws ErrnoException {
        long set = arena.allocate(SIGSET_BYTES, 8).address();
        Downcall.run(state, Spawn.SIGFILLSET, set);
        checkSpawn("setsigdefault", Downcall.run(state, Spawn.SET_DEFAULT, attributes, set));
        Downcall.run(state, Spawn.SIGEMPTYSET, set);
        checkSpawn("setsigmask", Downcall.run(state, Spawn.SET_MASK, attributes, set));
        checkSpawn("setflags", Downcall.run(state, Spawn.SET_FLAGS, attributes, SETSIGDEF | SETSIGMASK));
    }

    private static int spawn(
            CallState state, Arena arena, List<String> command, List<byte[]> environment, long actions, long attributes)
            throws ErrnoException {
        List<byte[]> arguments = command.stream()
                .map(argument -> NativePaths.text(argument, "an argument of a command"))
                .toList();
        long argv = array(arena, arguments);
        long program = Posix.getLong(argv);
        MemorySegment pid = arena.allocate(ValueLayout.JAVA_INT);
        int result = Downcall.run(
                state, Spawn.SPAWNP, pid.address(), program, actions, attributes, argv, array(arena, environment));
        checkSpawn("posix_spawn", result);
        return pid.get(ValueLayout.JAVA_INT, 0);
    }

    /** The functions of the posix_spawn family return the error number itself. */
    private static void checkSpawn(String call, int error) throws ErrnoException {
        if (error != 0) {
            throw new ErrnoException(call, -1, error);
        }
    }

    /** Returns a null-terminated array of strings. */
    private static long array(Arena arena, List<byte[]> strings) {
        long array = arena.allocate((strings.size() + 1L) * 8, 8).address();
        for (int i = 0; i < strings.size(); i++) {
            Posix.putLong(array + i * 8L, Files.zeroTerminated(arena, strings.get(i)));
        }
        return array;
    }

    /** Every byte is one character here, so that variables that are only passed on stay unchanged in any locale. */
    private static List<byte[]> environment(Map<String, @Nullable String> changed, boolean onlyThese) {
        Map<String, String> all = onlyThese ? new LinkedHashMap<>() : inherited();
        changed.forEach((name, value) -> {
            String key = bytewise(name, "a variable's name");
            if (value == null) {
                all.remove(key);
            } else {
                all.put(key, bytewise(value, "a variable's value"));
            }
        });
        return all.entrySet().stream()
                .map(entry -> (entry.getKey() + "=" + entry.getValue()).getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    private static Map<String, String> inherited() {
        Map<String, String> all = new LinkedHashMap<>();
        try {
            byte[] bytes = java.nio.file.Files.readAllBytes(Path.of("/proc/self/environ"));
            for (String each : new String(bytes, StandardCharsets.ISO_8859_1).split("\0", -1)) {
                int equals = each.indexOf('=');
                if (equals > 0) {
                    all.put(each.substring(0, equals), each.substring(equals + 1));
                }
            }
        } catch (IOException e) {
            // Without /proc: what the JVM could decode.
            System.getenv().forEach((name, value) -> all.put(bytewise(name, name), bytewise(value, name)));
        }
        return all;
    }

    private static String bytewise(String text, String what) {
        return new String(NativePaths.text(text, what), StandardCharsets.ISO_8859_1);
    }

    /**
     * Takes the status of a child that has ended, so that it is gone. To be called until it returns the status, and
     * never again. A use of the pidfd must be held.
     *
     * @return null if the child has not ended
     * @throws ErrnoException with ECHILD if other code took the status
     */
    public static @Nullable Ended take(int pidfd) throws ErrnoException {
        return waitFor(P_PIDFD, pidfd, WEXITED | WNOHANG);
    }

    private static @Nullable Ended waitFor(int type, int id, int options) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            long info = state.scratch();
            int result;
            do {
                Native.MEMORY.asSlice(info, SIGINFO_BYTES).fill((byte) 0);
                result = waitid(state, type, id, options, info);
            } while (Errno.isInterrupted(result));
            Downcall.check("waitid", type == P_PIDFD ? id : -1, result);
            if (Posix.getInt(info + SI_PID) == 0) {
                return null;
            }
            int status = Posix.getInt(info + SI_STATUS);
            return Posix.getInt(info + SI_CODE) == CLD_EXITED ? new Ended(status, 0) : new Ended(-1, status);
        }
    }

    /**
     * Sends a signal. A use of the pidfd must be held.
     *
     * @return false if the child is gone
     */
    public static boolean signal(int pidfd, int signal) throws ErrnoException {
        int result;
        try (CallState state = CallState.borrow()) {
            result = Downcall.run(state, Pidfd.SYSCALL5, SYS_PIDFD_SEND_SIGNAL, pidfd, signal, 0, 0);
        }
        if (result == -Errno.ESRCH.code()) {
            return false;
        }
        Downcall.check("pidfd_send_signal", pidfd, result);
        return true;
    }

    /**
     * Releases a child whose status is not needed: it is taken and discarded when a later child is started or released
     * and this one has ended by then. Until then, its number is not reused, so no descriptor need be kept for it.
     */
    public static void abandon(int pid) {
        ABANDONED.add(pid);
        reapAbandoned();
    }

    private static void reapAbandoned() {
        ABANDONED.removeIf(pid -> {
            try {
                return waitFor(P_PID, pid, WEXITED | WNOHANG) != null;
            } catch (ErrnoException e) {
                return true; // other code took it
            }
        });
    }

    private static int pidfdOpen(CallState state, int pid) {
        return Downcall.run(state, Pidfd.SYSCALL3, SYS_PIDFD_OPEN, pid, 0);
    }

    private static int waitid(CallState state, int type, int id, int options, long info) {
        return Downcall.run(state, Pidfd.WAITID, type, id, info, options);
    }

    private static final class Pidfd {
        static final MethodHandle SYSCALL3 = Native.linkVariadic("syscall", 3, 1);
        static final MethodHandle SYSCALL5 = Native.linkVariadic("syscall", 5, 1);
        static final MethodHandle WAITID = Native.link("waitid", 4);
    }

    private static final class Spawn {
        static final MethodHandle PIPE2 = Native.link("pipe2", 2);
        static final MethodHandle KILL = Native.link("kill", 2);
        static final MethodHandle SPAWNP = Native.link("posix_spawnp", 6);
        static final MethodHandle ACTIONS_INIT = Native.link("posix_spawn_file_actions_init", 1);
        static final MethodHandle ACTIONS_DESTROY = Native.link("posix_spawn_file_actions_destroy", 1);
        static final MethodHandle ADD_DUP2 = Native.link("posix_spawn_file_actions_adddup2", 3);
        static final MethodHandle ADD_OPEN = Native.link("posix_spawn_file_actions_addopen", 5);
        static final MethodHandle ATTR_INIT = Native.link("posix_spawnattr_init", 1);
        static final MethodHandle ATTR_DESTROY = Native.link("posix_spawnattr_destroy", 1);
        static final MethodHandle SET_FLAGS = Native.link("posix_spawnattr_setflags", 2);
        static final MethodHandle SET_MASK = Native.link("posix_spawnattr_setsigmask", 2);
        static final MethodHandle SET_DEFAULT = Native.link("posix_spawnattr_setsigdefault", 2);
        static final MethodHandle SIGFILLSET = Native.link("sigfillset", 1);
        static final MethodHandle SIGEMPTYSET = Native.link("sigemptyset", 1);
    }

    private static final class Changing {
        private static final String NAME = "posix_spawn_file_actions_addchdir_np";
        static final @Nullable MethodHandle ADD_CHDIR = Native.has(NAME) ? Native.link(NAME, 2) : null;
    }

    private static final class Closing {
        private static final String NAME = "posix_spawn_file_actions_addclosefrom_np";
        static final @Nullable MethodHandle ADD_CLOSE_FROM = Native.has(NAME) ? Native.link(NAME, 2) : null;
    }
}
