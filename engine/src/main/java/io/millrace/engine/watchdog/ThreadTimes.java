package io.millrace.engine.watchdog;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How long a thread has run and has waited for a processor, as counted by the kernel, and whether it could run now.
 * Linux only; other systems do not report it.
 *
 * @param runNanos the time on a processor
 * @param waitNanos the time during which it was runnable but had no processor; counted when it runs again
 * @param runnable whether it is running or waiting for a processor
 */
public record ThreadTimes(long runNanos, long waitNanos, boolean runnable) {
    private static final Path THREADS = Path.of("/proc/self/task");
    private static final Path THIS_THREAD = Path.of("/proc/thread-self");

    /** Returns the kernel's number of the calling thread; negative if unknown. */
    public static long currentThread() {
        if (Thread.currentThread().isVirtual()) {
            return -1;
        }
        try {
            return Long.parseLong(
                    Files.readSymbolicLink(THIS_THREAD).getFileName().toString());
        } catch (IOException | RuntimeException e) {
            return -1;
        }
    }

    /** Returns the times of a thread of this process; null if unknown. */
    static @Nullable ThreadTimes of(long thread) {
        if (thread < 0) {
            return null;
        }
        Path files = THREADS.resolve(Long.toString(thread));
        try {
            String[] times = Files.readString(files.resolve("schedstat"), StandardCharsets.US_ASCII)
                    .trim()
                    .split(" ", -1);
            String stat = Files.readString(files.resolve("stat"), StandardCharsets.ISO_8859_1);
            // "17 (any name) R 1 …": the name may have spaces and parentheses.
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return new ThreadTimes(Long.parseLong(times[0]), Long.parseLong(times[1]), state == 'R');
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /**
     * Returns for how much of a span of time the thread was runnable but not scheduled.
     *
     * <p>What the kernel has counted as waiting is certain. If the thread is runnable now, time that was counted
     * neither as running nor as waiting is assumed to be a wait that has not ended. The thread may have slept instead,
     * but it is better to report a little late than to blame a handler for a busy machine. If the thread is not
     * runnable, it sleeps, which is the handler's own doing.
     */
    static long notLetRun(@Nullable ThreadTimes before, @Nullable ThreadTimes now, long spanNanos) {
        if (before == null || now == null) {
            return 0;
        }
        long ran = now.runNanos - before.runNanos;
        long waited = now.waitNanos - before.waitNanos;
        return Math.clamp(now.runnable ? spanNanos - ran : waited, 0, spanNanos);
    }
}
