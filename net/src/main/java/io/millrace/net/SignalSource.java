package io.millrace.net;

import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.sys.posix.Signals;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports signals sent to this process, such as Ctrl-C. Readable while there is a signal that was not taken.
 *
 * {@snippet :
 * SignalSource signals = SignalSource.of("INT", "TERM", "HUP");
 * poll.register(signals, 1, Interest.READABLE, Trigger.EDGE);
 * // when token 1 is readable:
 * for (String name = signals.poll(); name != null; name = signals.poll()) {
 *   if (name.equals("HUP")) { reload(); } else { stop(); }
 * }
 * }
 *
 * <p><b>Instead of the default.</b> While a source listens to a signal, the signal does nothing else: INT and TERM no
 * longer end the program. When the last source of a signal is closed, its previous handling is restored. If several
 * sources listen to one signal, each of them reports it.
 *
 * <p><b>Coalesced.</b> A signal that comes several times before it is taken is taken once; {@link #count} returns how
 * often it came. The kernel itself merges signals of one kind that come close together, so the count may be smaller
 * than the number that was sent, but never larger.
 *
 * <p><b>Which signals.</b> Those that the JVM or the kernel needs are refused: QUIT, SEGV, BUS, FPE, ILL, TRAP, ABRT,
 * PIPE, XFSZ, KILL and STOP. With {@code -Xrs} the JVM leaves HUP, INT and TERM to the system, and they are refused,
 * too. HotSpot uses USR2 to stop a thread, for example for Flight Recorder on Linux. It can be listened to, but prefer
 * USR1, or move HotSpot's to another number with the environment variable {@code _JAVA_SR_SIGNUM}.
 *
 * <p><b>Threads.</b> Any thread may call any method; each signal that is taken goes to one of them. A source that is
 * not closed listens for ever, because the JVM keeps it.
 *
 * <h2>Portability</h2>
 * The same on every backend: signals come through the JVM's {@code sun.misc.Signal}, which uses a new thread for each.
 * A signal that was ignored when the JVM was started stays ignored, because the JVM does so: HUP under nohup, INT of a
 * background job. Windows supports INT and TERM.
 */
public final class SignalSource implements Source, AutoCloseable {
    /** How many bits {@link #came} has. */
    private static final int MOST = Integer.SIZE - 1;

    private final List<String> names;
    private final Signals.@Nullable Listening[] listening;
    /** Guarded by this. */
    private final long[] counts;
    /** Bit i is set if signal i came and was not taken. Guarded by this. */
    private int came;

    private final Registration registration = new Registration();
    private volatile boolean closed;

    private SignalSource(List<String> names) {
        this.names = names;
        this.listening = new Signals.Listening[names.size()];
        this.counts = new long[names.size()];
    }

    /**
     * Starts to listen to signals.
     *
     * @param names for example {@code INT} or {@code SIGINT}; at least one
     * @return a source, which the caller must close
     * @throws IllegalArgumentException if there is no such signal here, or it cannot be listened to; then nothing has
     *     changed
     */
    public static SignalSource of(String... names) {
        List<String> distinct =
                Arrays.stream(names).map(Signals::plainName).distinct().toList();
        if (distinct.isEmpty() || distinct.size() > MOST) {
            throw new IllegalArgumentException(
                    "a signal source listens to 1 to " + MOST + " signals, not to " + distinct.size());
        }
        SignalSource source = new SignalSource(distinct);
        boolean done = false;
        try {
            source.listen();
            done = true;
            return source;
        } finally {
            if (!done) {
                source.close();
            }
        }
    }

    private void listen() {
        for (int i = 0; i < listening.length; i++) {
            int index = i;
            listening[i] = Signals.listen(names.get(i), () -> countArrival(index));
        }
    }

    /**
     * Called on a thread that the JVM starts for each signal. The signal, its count and the readiness change together,
     * so that no thread sees half of the change.
     */
    private synchronized void countArrival(int index) {
        counts[index]++;
        came |= 1 << index;
        registration.setReadiness(Readiness.READABLE);
    }

    @Override
    public SourceHandle handle() {
        return registration;
    }

    /**
     * Takes a signal that came. If there are several, the one that was named first in {@link #of}.
     *
     * @return its name without SIG; null if none came, or the source is closed
     */
    public synchronized @Nullable String poll() {
        if (came == 0 || closed) {
            return null;
        }
        int index = Integer.numberOfTrailingZeros(came);
        came &= ~(1 << index);
        if (came == 0) {
            registration.unsetReadiness(Readiness.READABLE);
        }
        return names.get(index);
    }

    /**
     * Returns how often a signal came since the source was created.
     *
     * @param name one of the signals that it listens to
     * @return the count
     * @throws IllegalArgumentException if it does not listen to that signal
     */
    public long count(String name) {
        int index = names.indexOf(Signals.plainName(name));
        if (index < 0) {
            throw new IllegalArgumentException(this + " does not listen to " + name);
        }
        synchronized (this) {
            return counts[index];
        }
    }

    /**
     * Stops listening and deregisters; the signals have their previous effect again. Idempotent; any thread may call
     * it.
     */
    @Override
    public void close() {
        closed = true;
        registration.close();
        for (Signals.Listening each : listening) {
            if (each != null) {
                each.close();
            }
        }
    }

    @Override
    public String toString() {
        return "SignalSource of " + String.join(", ", names) + (closed ? ", closed" : "");
    }
}
