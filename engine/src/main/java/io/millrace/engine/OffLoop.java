package io.millrace.engine;

import io.millrace.engine.vthread.LoopThreads;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Runs code that would block a loop, for virtual threads that run on one: reading files, looking up names with the JDK,
 * drivers with native code, long computations.
 *
 * {@snippet :
 * List<String> lines = OffLoop.call(() -> Files.readAllLines(path));
 * }
 *
 * <p>The calling thread waits, and its loop goes on. The code runs on another virtual thread, on the JDK's scheduler: so
 * thread locals and held locks do not follow it.
 */
public final class OffLoop {
    private OffLoop() {}

    /**
     * Runs something on the JDK's scheduler and waits for it.
     *
     * @param <T> what it returns
     * @param what runs on another virtual thread
     * @return what it returned
     * @throws InterruptedException if the calling thread was interrupted; the other one is, too, and may still be running
     * @throws Exception what it threw
     */
    public static <T> T call(Callable<T> what) throws Exception {
        FutureTask<T> task = new FutureTask<>(Objects.requireNonNull(what, "what"));
        Thread thread = LoopThreads.elsewhere("millrace-off-loop", LoopThreads.at(LoopThreads.home(), task));
        thread.start();
        try {
            return task.get();
        } catch (InterruptedException e) {
            thread.interrupt();
            throw e;
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case Exception thrown -> throw thrown;
                case Error thrown -> throw thrown;
                case null, default -> throw new CompletionException(e.getCause());
            }
        }
    }
}
