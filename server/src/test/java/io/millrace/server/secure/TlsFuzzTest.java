package io.millrace.server.secure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("TLS sessions whose peer is broken or hostile")
class TlsFuzzTest {
    /** A session takes a millisecond; one that takes this long is in a loop that does not end. */
    private static final long PATIENCE_SECONDS = 30;

    private static final int MOST_FAILURES = 8;
    private static final int IN_A_BUILD = 2_000;
    private static final int IN_A_SOAK = 1_000_000;

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES)
    @DisplayName("tls-3, tls-5: whatever is changed, lost, repeated or added, a session goes on or ends in order:"
            + " never stuck, never growing, with no exception that escapes, and with the right alert")
    void brokenSessions() throws Exception {
        int count =
                Integer.getInteger("millrace.tls.fuzz", Boolean.getBoolean("millrace.soak") ? IN_A_SOAK : IN_A_BUILD);
        Long only = Long.getLong("millrace.seed");
        long first = only == null ? 20_260_000L : only;
        long end = only == null ? first + count : first + 1;
        TlsFuzz.Tally tally = new TlsFuzz.Tally();
        AtomicLong at = new AtomicLong(first);
        List<AssertionError> failures = new CopyOnWriteArrayList<>();
        Thread worker = Thread.ofPlatform().daemon().start(() -> {
            try {
                for (long seed = first; seed < end && failures.size() < MOST_FAILURES; seed++) {
                    at.set(seed);
                    try {
                        new TlsFuzz(seed).run(tally);
                    } catch (Throwable e) {
                        failures.add(
                                new AssertionError("-Dmillrace.seed=" + seed + " repeats it: " + e.getMessage(), e));
                    }
                }
            } finally {
                at.set(end);
            }
        });
        long seen = -1;
        while (!worker.join(java.time.Duration.ofSeconds(PATIENCE_SECONDS))) {
            if (at.get() == seen) {
                AssertionError stuck = new AssertionError("seed " + seen + " does not end: -Dmillrace.seed=" + seen);
                stuck.setStackTrace(worker.getStackTrace());
                throw stuck;
            }
            seen = at.get();
        }
        if (!failures.isEmpty()) {
            failures.stream().skip(1).forEach(failures.getFirst()::addSuppressed);
            throw failures.getFirst();
        }
        System.out.println(count + " broken TLS sessions. " + tally);
        if (only == null) {
            assertThat(tally.byChange.keySet()).containsExactlyInAnyOrder(TlsFuzz.Change.values());
            assertThat(tally.byChange.get(TlsFuzz.Change.NOTHING)[3]).isZero();
            assertThat(tally.alerts).containsKeys("bad_record_mac", "unexpected_message", "record_overflow");
        }
    }
}
