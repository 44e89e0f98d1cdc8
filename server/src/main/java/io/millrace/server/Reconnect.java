package io.millrace.server;

import io.millrace.poll.internal.Durations;
import io.millrace.server.support.ServerSettings;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * When to connect again after an attempt has failed or a connection has ended: see {@link TcpClient#keepConnected}.
 *
 * <p>The first wait takes {@code min}, and every further one twice as long as the one before, up to {@code max}.
 * <b>Jitter</b> makes each wait shorter by a random share, so that many clients that lost the same server do not all
 * come back at once: with {@code jitter(0.2)}, a wait of 10 s takes between 8 and 10 s, evenly distributed; with {@code
 * jitter(1)}, between 0 and 10 s. When a connection has stood for {@link #resetAfter} before it ended, waits begin with
 * {@code min} again.
 *
 * <p>Immutable; any thread may use it, for any number of connections.
 */
public final class Reconnect {
    private static final double DEFAULT_JITTER = 0.5;

    private final long minNanos;
    private final long maxNanos;
    private final double jitter;
    private final long resetNanos;
    private final int maxAttempts;
    private final DoubleSupplier random;

    private Reconnect(
            long minNanos, long maxNanos, double jitter, long resetNanos, int maxAttempts, DoubleSupplier random) {
        this.minNanos = minNanos;
        this.maxNanos = maxNanos;
        this.jitter = jitter;
        this.resetNanos = resetNanos;
        this.maxAttempts = maxAttempts;
        this.random = random;
    }

    /**
     * Waits longer after each failure.
     *
     * @param min the first wait, longer than zero
     * @param max the longest wait
     * @return with a jitter of 0.5, reset by a connection that stood for {@code max}, and no limit of attempts
     */
    public static Reconnect backoff(Duration min, Duration max) {
        long minNanos = Durations.limitNanos(min, "the shortest wait");
        long maxNanos = Durations.limitNanos(max, "the longest wait");
        if (minNanos == 0 || maxNanos < minNanos) {
            throw new IllegalArgumentException("waits must be 0 < min <= max, not " + min + " and " + max);
        }
        return new Reconnect(
                minNanos,
                maxNanos,
                DEFAULT_JITTER,
                maxNanos,
                Integer.MAX_VALUE,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Sets by which share a wait may be shorter.
     *
     * @param share from 0, which means that waits are exact, to 1
     * @return a copy with this setting
     */
    public Reconnect jitter(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("the jitter must be from 0 to 1, not " + share);
        }
        return new Reconnect(minNanos, maxNanos, share, resetNanos, maxAttempts, random);
    }

    /**
     * Sets how long a connection must have stood for the next wait to be the first one again. One that ends earlier
     * counts as a failed attempt: some servers accept connections, and close them at once.
     *
     * @param time the longest wait by default; with zero, every connection counts as success
     * @return a copy with this setting
     */
    public Reconnect resetAfter(Duration time) {
        return new Reconnect(
                minNanos,
                maxNanos,
                jitter,
                Durations.limitNanos(time, "the time that a connection must have stood"),
                maxAttempts,
                random);
    }

    /**
     * Limits the attempts in a row that lead to no connection that stands for {@link #resetAfter}. After the last one it
     * gives up.
     *
     * @param count no limit by default
     * @return a copy with this setting
     */
    public Reconnect maxAttempts(int count) {
        return new Reconnect(
                minNanos,
                maxNanos,
                jitter,
                resetNanos,
                ServerSettings.inRange("the number of attempts", count, 1, Integer.MAX_VALUE),
                random);
    }

    /** With numbers from 0 to 1 that a test knows. */
    Reconnect random(DoubleSupplier numbers) {
        return new Reconnect(
                minNanos, maxNanos, jitter, resetNanos, maxAttempts, Objects.requireNonNull(numbers, "numbers"));
    }

    /** How long to wait after so many attempts in a row that led to nothing, at least 1. */
    long waitNanos(int attempts) {
        int doublings = Math.min(attempts - 1, Long.SIZE - 2);
        long full = minNanos > maxNanos >> doublings ? maxNanos : minNanos << doublings;
        return full - (long) (full * jitter * random.getAsDouble());
    }

    boolean isStanding(long nanos) {
        return nanos >= resetNanos;
    }

    boolean givesUpAfter(int attempts) {
        return attempts >= maxAttempts;
    }

    @Override
    public String toString() {
        return "reconnect after " + Duration.ofNanos(minNanos) + " to " + Duration.ofNanos(maxNanos) + ", jitter "
                + jitter;
    }
}
