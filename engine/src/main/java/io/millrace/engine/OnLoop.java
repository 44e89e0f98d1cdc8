package io.millrace.engine;

import io.millrace.engine.reactor.LoopThread;
import io.millrace.engine.reactor.Reactor;
import io.millrace.engine.vthread.LoopThreads;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.PollAccess;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;

/**
 * Waits for sources, for threads that may block: a loop watches the source meanwhile.
 *
 * {@snippet :
 * Pipe pipe = Pipe.open();
 * while (pipe.source().tryRead(buffer) == Io.WOULD_BLOCK) {
 *     OnLoop.await(pipe.source(), Interest.READABLE);
 * }
 * }
 *
 * <p><b>Which loop.</b> The threads of a connection, in a conversation of a {@code DirectServer} or in a handler with {@link
 * Dispatch#VIRTUAL}, and those of an {@link EventLoop}'s handlers with that dispatch belong to a loop, and it watches for
 * them, whether it carries them or not. So do the threads of {@link OffLoop}. For any other thread, a loop of the {@link
 * GlobalEventManager} does. A virtual thread parks, and its loop goes on.
 *
 * <p><b>What needs nothing of this.</b> {@link io.millrace.poll.Channel#take}, the {@code next()} of sets of futures,
 * {@link Thread#sleep}, locks and monitors park a virtual thread anyway.
 *
 * <p><b>Threads.</b> Any thread, except a loop's own, in a callback: it has to go on. One thread at a time waits for a
 * source, which must not be registered elsewhere.
 *
 * <h2>Portability</h2>
 * As for {@link io.millrace.poll.Poll#register}: the loop's backend must be able to watch the source, and a source in
 * software, such as a {@link io.millrace.poll.Registration}, stays with the loop that watched it first. Each wait
 * registers the source and deregisters it, which are two system calls for a descriptor.
 */
public final class OnLoop {
    private OnLoop() {}

    /**
     * Waits until a source is ready.
     *
     * @param source not registered with a poll or loop; afterwards it is not, either
     * @param interest what to wait for
     * @return what it is ready for; never nothing
     * @throws InterruptedException if the thread is interrupted while it waits
     * @throws IOException if the source is closed meanwhile, or the loop ends
     * @throws IllegalStateException if the source is registered, belongs to another loop or is closed; or on a loop's own
     *     thread
     * @throws IllegalArgumentException if the loop's backend cannot watch it, or it is a {@link io.millrace.poll.Timer}
     */
    public static Readiness await(Source source, Interest interest) throws InterruptedException, IOException {
        return start(source, interest).await(0);
    }

    /**
     * Waits until a source is ready, for some time.
     *
     * @param source not registered with a poll or loop; afterwards it is not, either
     * @param interest what to wait for
     * @param limit positive: how long, by the clock of the loop
     * @return what it is ready for; {@link Readiness#NONE} if the time has passed
     * @throws InterruptedException if the thread is interrupted while it waits
     * @throws IOException if the source is closed meanwhile, or the loop ends
     * @throws IllegalStateException if the source is registered, belongs to another loop or is closed; or on a loop's own
     *     thread
     * @throws IllegalArgumentException if the loop's backend cannot watch it, or it is a {@link io.millrace.poll.Timer}
     */
    public static Readiness await(Source source, Interest interest, Duration limit)
            throws InterruptedException, IOException {
        long nanos = Durations.positiveNanos(limit, "the limit of a wait");
        return start(source, interest).await(nanos);
    }

    private static SourceWait start(Source source, Interest interest) {
        Objects.requireNonNull(source, "source");
        if (Objects.requireNonNull(interest, "interest").equals(Interest.NONE)) {
            throw new IllegalArgumentException("cannot wait for " + source + " with interest in nothing");
        }
        Reactor reactor = reactorFor(source);
        if (Thread.currentThread() instanceof LoopThread || reactor.inLoop()) {
            throw new IllegalStateException(
                    "cannot wait for " + source + " on the thread of a loop, which has to go on;"
                            + " register the source there, or wait on a virtual thread");
        }
        if (PollAccess.get().isTimer(source)) {
            throw new IllegalArgumentException("cannot wait for " + source
                    + ": a timer is for the polling thread only; use Thread.sleep, or an alarm's future");
        }
        return new SourceWait(reactor, source, interest);
    }

    private static Reactor reactorFor(Source source) {
        if (LoopThreads.home() instanceof Reactor home) {
            return home;
        }
        Reactors manager = GlobalEventManager.global() instanceof Reactors ours ? ours : Beside.REACTORS;
        return manager.reactorOf(source.handle());
    }

    /** Used if the global manager is not ours. */
    private static final class Beside {
        static final Reactors REACTORS = Reactors.builder()
                .name("millrace-waits")
                .reactors(1)
                .daemon(true)
                .open();
    }
}
