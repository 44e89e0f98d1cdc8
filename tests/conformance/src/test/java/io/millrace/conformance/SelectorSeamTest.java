package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Family;
import io.millrace.sys.KernelKey;
import io.millrace.sys.Selector;
import io.millrace.sys.SelectorProvider;
import io.millrace.sys.SystemHandle;
import io.millrace.sys.selector.Backends;
import io.millrace.sys.selector.KqueueShim;
import io.millrace.testkit.Background;
import io.millrace.testkit.Bytes;
import java.io.IOException;
import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@link Selector} promises to the poll above it, and a poll cannot show by itself: mostly that no wake-up is lost. */
@DisplayName("The seam between poll and sys")
class SelectorSeamTest {
    private static final long KEY = KernelKey.of(1, 0);
    private static final long FOR_EVER = -1;

    @BeforeAll
    static void installTheEmulation() {
        KqueueShim.install();
    }

    static Stream<String> backends() {
        return Backends.all().stream()
                .filter(provider -> provider.refusal() == null)
                .map(SelectorProvider::name);
    }

    private static Selector open(String name) throws IOException {
        Selector selector = Backends.open(name, "the test").selector();
        assertThat(selector.name()).isEqualTo(name);
        return selector;
    }

    private static SystemHandle handle(Pipe.Reader reader) {
        return ((KernelHandle) reader.handle()).system();
    }

    private static Pipe pipeFor(Selector selector) throws IOException {
        return (selector.family() == Family.CHANNEL ? Net.nio() : Net.natively()).pipe();
    }

    /** The events of sources in a wait that must end; on a thread of its own, because else the build would hang with it. */
    private static int await(Selector selector) {
        return Background.call(() -> {
                    int found = selector.await(FOR_EVER, 16);
                    // A hostile one may end a wait for nothing, before it has looked.
                    return ofSources(selector, found == 0 ? selector.await(0, 16) : found);
                })
                .result();
    }

    /** A backend may show a wake, under a key that is no source's. */
    private static int ofSources(Selector selector, int found) {
        return (int) IntStream.range(0, found)
                .filter(event -> !KernelKey.isWake(selector.key(event)))
                .count();
    }

    @ParameterizedTest
    @MethodSource("backends")
    @DisplayName("tip-5: a wake before the wait ends that wait, and is no event")
    void aWakeBeforeTheWait(String name) throws IOException {
        try (Selector selector = open(name)) {
            selector.wake();
            selector.wake();
            assertThat(await(selector)).isZero();
            long start = System.nanoTime();
            long nanos = Duration.ofMillis(20).toNanos();
            for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - start)) {
                assertThat(ofSources(selector, selector.await(left, 16)))
                        .as("the wakes were used up")
                        .isZero();
            }
            selector.wake();
            assertThat(await(selector)).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    @DisplayName("tip-5: a wake survives that a handle is removed before the wait")
    void aWakeSurvivesARemoval(String name) throws IOException {
        try (Selector selector = open(name);
                Pipe pipe = pipeFor(selector)) {
            selector.add(handle(pipe.source()), KEY, Bits.READABLE, Bits.EDGE);
            selector.await(0, 16);
            selector.wake();
            selector.remove(handle(pipe.source()), KEY);

            assertThat(await(selector)).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    @DisplayName("tip-5: a wake survives that a handle is removed and added again before the wait")
    void aWakeSurvivesAnExchange(String name) throws IOException {
        try (Selector selector = open(name);
                Pipe pipe = pipeFor(selector)) {
            selector.add(handle(pipe.source()), KEY, Bits.READABLE, Bits.EDGE);
            selector.wake();
            selector.remove(handle(pipe.source()), KEY);
            selector.add(handle(pipe.source()), KernelKey.of(2, 0), Bits.READABLE, Bits.LEVEL);
            selector.modify(handle(pipe.source()), KernelKey.of(2, 0), Bits.READABLE, Bits.EDGE);

            assertThat(await(selector)).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    @DisplayName("A key comes back as it was given, whatever its generation")
    void keysComeBack(String name) throws IOException {
        for (long key : new long[] {
            KernelKey.of(1, 0), KernelKey.of(-1, 1), KernelKey.of(Integer.MIN_VALUE, 77), KernelKey.of(7, 100_000)
        }) {
            try (Selector selector = open(name);
                    Pipe pipe = pipeFor(selector)) {
                Bytes.write(pipe.sink(), 1);
                selector.add(handle(pipe.source()), key, Bits.READABLE, Bits.LEVEL);
                int found = 0;
                while (found == 0) {
                    found = await(selector);
                }
                assertThat(selector.key(0)).isEqualTo(key);
                assertThat(selector.readiness(0)).isEqualTo(Bits.READABLE);
                selector.remove(handle(pipe.source()), key);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("backends")
    @DisplayName("tip-14: wake after close does nothing")
    void wakeAfterClose(String name) throws IOException {
        Selector selector = open(name);
        selector.close();
        selector.wake();
    }
}
