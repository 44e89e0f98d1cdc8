package io.millrace.sys.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Bits;
import io.millrace.sys.Family;
import io.millrace.sys.KernelKey;
import io.millrace.sys.NioHandle;
import io.millrace.sys.SystemHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The emulation of triggers over a mechanism that finds, and fails, what the test says. */
@DisplayName("Emulated triggers")
class EmulatingSelectorTest {
    private static final long FIRST = KernelKey.of(1, 0);
    private static final long SECOND = KernelKey.of(1, 1);

    private final Scripted selector = new Scripted();
    private final List<Pipe> pipes = new ArrayList<>();

    private NioHandle handle() throws IOException {
        Pipe pipe = Pipe.open();
        pipes.add(pipe);
        pipe.source().configureBlocking(false);
        return new NioHandle(pipe.source());
    }

    @AfterEach
    void close() throws IOException {
        selector.refuseDetach = false;
        selector.close();
        for (Pipe pipe : pipes) {
            pipe.source().close();
            pipe.sink().close();
        }
    }

    @Test
    @DisplayName("mio-26: a queued change that fails does not keep those behind it from being carried out")
    void aFailedChangeSkipsNoOther() throws IOException {
        NioHandle first = handle();
        NioHandle second = handle();
        NioHandle third = handle();
        selector.add(first, FIRST, Bits.READABLE, Bits.LEVEL);
        selector.add(second, SECOND, Bits.WRITABLE, Bits.LEVEL);
        selector.refuseDetach = true;
        selector.during = () -> {
            selector.remove(first, FIRST);
            selector.modify(second, SECOND, Bits.READABLE, Bits.LEVEL);
            selector.addOrFail(third, KernelKey.of(2, 0));
        };

        assertThatThrownBy(() -> selector.await(0, 8)).isInstanceOf(UncheckedIOException.class);

        assertThat(selector.asked)
                .containsEntry(SECOND, Bits.READABLE)
                .containsEntry(KernelKey.of(2, 0), Bits.READABLE);
        selector.found.put(SECOND, Bits.READABLE);
        assertThat(selector.await(0, 8)).isEqualTo(1);
        assertThat(selector.key(0)).isEqualTo(SECOND);
    }

    @Test
    @DisplayName("mio-4: what a wait found is judged by what that wait was asked for, or not at all")
    void aResultBelongsToItsQuestion() throws IOException {
        for (int trigger : new int[] {Bits.LEVEL, Bits.EDGE, Bits.ONESHOT}) {
            NioHandle handle = handle();
            selector.add(handle, FIRST, Bits.WRITABLE, trigger);
            selector.found.put(FIRST, Bits.WRITABLE);
            selector.during = () -> selector.modify(handle, FIRST, Bits.READABLE, trigger);

            assertThat(selector.await(0, 8))
                    .as("found as writable, now asked for readable")
                    .isZero();
            assertThat(selector.asked).as("trigger %d is not silenced", trigger).containsEntry(FIRST, Bits.READABLE);
            selector.found.put(FIRST, Bits.READABLE);
            assertThat(selector.await(0, 8)).isEqualTo(1);
            selector.remove(handle, FIRST);
        }
    }

    @Test
    @DisplayName(
            "mio-6: a direction that another thread drains during a wait is asked for again, and the wait is to be ended")
    void drainedDuringAWait() throws IOException {
        selector.add(handle(), FIRST, Bits.READABLE, Bits.EDGE);
        reportAndSilence(Bits.READABLE);

        List<Boolean> wakes = new ArrayList<>();
        selector.during = () -> wakes.add(selector.rearm(FIRST, Bits.READABLE));
        assertThat(selector.await(0, 8)).isZero();

        assertThat(wakes).as("whether the waiting thread must be woken").containsExactly(true);
        assertThat(selector.asked).containsEntry(FIRST, Bits.READABLE);
        selector.found.put(FIRST, Bits.READABLE);
        assertThat(selector.await(0, 8)).isEqualTo(1);
    }

    @Test
    @DisplayName("tip-10, mio-6: a direction that was drained tells of its end once more")
    void aDrainedEndIsToldAgain() throws IOException {
        int both = Bits.READABLE | Bits.READ_CLOSED;
        selector.add(handle(), FIRST, Bits.READABLE, Bits.EDGE);
        reportAndSilence(both);
        selector.rearm(FIRST, Bits.READABLE);

        selector.found.put(FIRST, both);
        assertThat(selector.await(0, 8)).isEqualTo(1);
        assertThat(selector.readiness(0)).isEqualTo(both);
    }

    /** Reported once; found once more undrained, it is not asked for any longer. */
    private void reportAndSilence(int ready) throws IOException {
        selector.found.put(FIRST, ready);
        assertThat(selector.await(0, 8)).isEqualTo(1);
        selector.found.put(FIRST, ready);
        assertThat(selector.await(0, 8)).isZero();
        assertThat(selector.asked).containsEntry(FIRST, 0);
    }

    @Test
    @DisplayName("mio-11: a late call by the key of a former owner does not reach the slot's next one")
    void aLateKeyReachesNobody() throws IOException {
        NioHandle former = handle();
        NioHandle next = handle();
        long nextKey = KernelKey.of(2, KernelKey.index(FIRST));
        selector.add(former, FIRST, Bits.READABLE, Bits.EDGE);
        selector.remove(former, FIRST);
        selector.add(next, nextKey, Bits.READABLE, Bits.EDGE);
        selector.found.put(nextKey, Bits.READABLE);
        assertThat(selector.await(0, 8)).isEqualTo(1);

        selector.rearm(FIRST, Bits.READABLE);
        selector.modify(former, FIRST, Bits.WRITABLE, Bits.LEVEL);
        selector.remove(former, FIRST);

        selector.found.put(nextKey, Bits.READABLE);
        assertThat(selector.await(0, 8)).as("not drained by its owner").isZero();
        selector.rearm(nextKey, Bits.READABLE);
        selector.found.put(nextKey, Bits.READABLE);
        assertThat(selector.await(0, 8)).isEqualTo(1);
        assertThat(selector.key(0)).isEqualTo(nextKey);
    }

    /** Finds what is in {@link #found}, once, and does {@link #during} while it waits. */
    private static final class Scripted extends EmulatingSelector {
        final Map<Long, Integer> found = new HashMap<>();
        final Map<Long, Integer> asked = new HashMap<>();
        private final Map<Long, Entry> entries = new HashMap<>();
        private final Map<Entry, Integer> questions = new HashMap<>();

        @Nullable
        Runnable during;

        boolean refuseDetach;

        void addOrFail(NioHandle handle, long key) {
            try {
                add(handle, key, Bits.READABLE, Bits.LEVEL);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        void attach(Entry entry) {
            entries.put(entry.key, entry);
            watch(entry);
        }

        @Override
        void watch(Entry entry) {
            asked.put(entry.key, entry.watched);
        }

        @Override
        void detach(Entry entry) {
            if (refuseDetach) {
                throw new UncheckedIOException(new IOException("refused by the test"));
            }
            entries.remove(entry.key);
            asked.remove(entry.key);
        }

        @Override
        void check(SystemHandle handle) {}

        @Override
        void block(long timeoutNanos) {
            questions.clear();
            entries.values().forEach(entry -> questions.put(entry, entry.question));
            Runnable script = during;
            during = null;
            if (script != null) {
                script.run();
            }
        }

        @Override
        void collect() {
            questions.forEach((entry, question) -> {
                Integer ready = found.get(entry.key);
                if (ready != null && !full()) {
                    report(entry, question, ready);
                }
            });
            found.clear();
        }

        @Override
        public String name() {
            return "scripted";
        }

        @Override
        public Family family() {
            return Family.CHANNEL;
        }

        @Override
        public void wake() {}

        @Override
        public void close() {
            releaseAll();
        }
    }
}
