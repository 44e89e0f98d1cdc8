package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A failure")
class WhichChildFailedTest {
    /** A call that says what it is. */
    private record Fetch(String page) implements Callable<String> {
        @Override
        public String call() {
            throw new IllegalStateException("no " + page);
        }
    }

    @Test
    @DisplayName("says which child had it, by key and by the child's own text")
    void whichChild() throws Exception {
        try (FuturesUnordered<String> set = FuturesUnordered.create()) {
            set.add(new CompletableFuture<>());
            long key = set.add(new Fetch("page 7"));
            Outcome<String> outcome = set.next();
            assertThat(outcome).isInstanceOf(Failed.class);
            if (outcome instanceof Failed(var cause, var origin)) {
                assertThat(cause).hasMessage("no page 7");
                assertThat(origin.key()).isEqualTo(key);
                assertThat(origin).hasToString("child 1, call of Fetch[page=page 7]");
            }
        }
    }

    @Test
    @DisplayName("of a child that throws in its poll says it, too")
    void thrown() throws Exception {
        try (StreamsUnordered<String> set = StreamsUnordered.create()) {
            long key = set.add((PollableStream<String>) waker -> {
                throw new IllegalStateException("broken");
            });
            assertThat(set.next())
                    .isInstanceOfSatisfying(
                            Failed.class,
                            failed -> assertThat(failed.origin().key()).isEqualTo(key));
        }
    }

    @Test
    @DisplayName("of a set in a set names the inner child")
    void nested() throws Exception {
        try (StreamsUnordered<String> outer = StreamsUnordered.create()) {
            FuturesUnordered<String> inner = FuturesUnordered.create();
            inner.add(new CompletableFuture<>());
            inner.add(new Fetch("inner"));
            outer.add(inner);
            assertThat(outer.next())
                    .isInstanceOfSatisfying(
                            Failed.class,
                            failed -> assertThat(failed.origin()).hasToString("child 1, call of Fetch[page=inner]"));
        }
    }

    @Test
    @DisplayName("that no set yielded has no origin")
    void withoutASet() {
        assertThat(new Failed<>(new IllegalStateException("x")).origin()).hasToString("no set");
        assertThat(new Failed<>(new IllegalStateException("x")).origin().index())
                .isEqualTo(-1);
    }

    @Test
    @DisplayName("by time says which child was late, and no address")
    void timeout() throws Exception {
        try (FuturesUnordered<String> set =
                FuturesUnordered.<String>builder().timeout(Duration.ofMillis(1)).build()) {
            set.add(new CompletableFuture<>());
            set.add(Pollable.of(new CompletableFuture<String>()));
            for (int i = 0; i < 2; i++) {
                assertThat(set.next())
                        .isInstanceOfSatisfying(
                                Failed.class,
                                failed -> assertThat(failed.cause())
                                        .isInstanceOf(TimeoutException.class)
                                        .message()
                                        .matches(
                                                "no value within PT0\\.001S from child [01], CompletableFuture\\[Not completed.*]")
                                        .doesNotContain("@"));
            }
        }
    }

    @Test
    @DisplayName("has no address in it for what has no text of its own")
    void names() {
        assertThat(Names.of(new Fetch("x"))).isEqualTo("Fetch[page=x]");
        assertThat(Names.of(new Object())).isEqualTo("Object");
        assertThat(Names.of((Runnable) () -> {})).isEqualTo("a lambda of WhichChildFailedTest");
    }
}
