package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Notifier.Position;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Timer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.OpenFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The notifier of TIP 458, on the machine's default backend: one per thread, with a queue of events that others may add to. */
class NotifierTest {
    private Notifier notifier;
    private final List<String> ran = new ArrayList<>();

    /** Called by the test itself, which runs on a thread of its own. */
    private void open() {
        notifier = Notifier.current();
    }

    @AfterEach
    void close() {
        if (notifier != null) {
            notifier.close();
        }
    }

    private Notifier.Task task(String name) {
        return () -> {
            ran.add(name);
            return true;
        };
    }

    private void runAll() {
        while (notifier.doOneEvent(Duration.ZERO)) {
            assertThat(ran).hasSizeLessThan(100_000);
        }
    }

    @Test
    @DisplayName(
            "tip-4: a thread that never waits opens no descriptor; one that waits has exactly two, and no thread is"
                    + " started")
    void descriptorsAreOpenedByTheFirstWait() {
        open();
        Map<String, Integer> before = OpenFiles.count();
        int threads = liveThreads();
        notifier.queue(task("a"), Position.TAIL);
        assertThat(notifier.serviceOne()).isTrue();
        assertThat(OpenFiles.count()).isEqualTo(before);

        notifier.doOneEvent(Duration.ZERO);

        Map<String, Integer> after = OpenFiles.count();
        int opened = after.values().stream().mapToInt(Integer::intValue).sum()
                - before.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(opened).as("%s, before %s", after, before).isEqualTo(2);
        assertThat(liveThreads()).isEqualTo(threads);

        notifier.close();
        assertThat(OpenFiles.count()).isEqualTo(before);
    }

    private static int liveThreads() {
        return (int) Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .filter(thread -> thread.getName().startsWith("millrace"))
                .count();
    }

    @Test
    @DisplayName(
            "tip-8: HEAD is last in first out, TAIL first in first out, MARK after earlier marks and before the tail")
    void positions() {
        open();
        for (String name : List.of("tail 1", "tail 2")) {
            notifier.queue(task(name), Position.TAIL);
        }
        for (String name : List.of("mark 1", "mark 2")) {
            notifier.queue(task(name), Position.MARK);
        }
        for (String name : List.of("head 1", "head 2")) {
            notifier.queue(task(name), Position.HEAD);
        }
        notifier.queue(task("mark 3"), Position.MARK);

        runAll();

        assertThat(ran).containsExactly("head 2", "head 1", "mark 1", "mark 2", "mark 3", "tail 1", "tail 2");
    }

    @Test
    @DisplayName("tip-8: an event that returns false stays queued, and the next one is tried")
    void unwillingEventsStay() {
        open();
        AtomicInteger tries = new AtomicInteger();
        notifier.queue(() -> tries.incrementAndGet() == 3, Position.TAIL);
        notifier.queue(task("b"), Position.TAIL);

        assertThat(notifier.serviceOne()).isTrue();
        assertThat(ran).containsExactly("b");
        assertThat(notifier.serviceOne()).isFalse();
        assertThat(notifier.serviceOne()).isTrue();
        assertThat(tries).hasValue(3);
        assertThat(notifier.serviceOne()).isFalse();
    }

    @Test
    @DisplayName("tip-8: an event of another thread runs on the owner's; alert ends its wait")
    void anotherThreadQueuesAndAlerts() {
        open();
        AtomicReference<Thread> ranOn = new AtomicReference<>();
        AtomicReference<Notifier> target = new AtomicReference<>();
        Background<Boolean> owner = Background.call(() -> {
            Notifier own = Notifier.current();
            target.set(own);
            boolean handled = own.doOneEvent(null);
            own.close();
            return handled;
        });
        Await.until("the other thread has a notifier", () -> target.get() != null);

        target.get()
                .queue(
                        () -> {
                            ranOn.set(Thread.currentThread());
                            return true;
                        },
                        Position.TAIL);
        target.get().alert();

        assertThat(owner.result()).isTrue();
        assertThat(ranOn).hasValue(owner.thread());
        assertThat(Notifier.current()).isSameAs(notifier).isNotSameAs(target.get());
    }

    @Test
    @DisplayName("tip-8: alert alone ends one wait, whether it comes before or during it")
    void alertAloneEndsTheWait() {
        open();
        notifier.alert();
        notifier.alert();
        assertThat(notifier.doOneEvent(null)).isFalse();

        Thread owner = Thread.currentThread();
        Background<Boolean> alerter = Background.run(() -> {
            Await.until("the owner waits", () -> isWaiting(owner));
            notifier.alert();
        });
        assertThat(notifier.doOneEvent(null)).isFalse();
        alerter.result();
        assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
    }

    private static boolean isWaiting(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("await")
                        && frame.getClassName().contains("millrace"));
    }

    @Test
    @DisplayName("tip-8: 8 producers, nothing lost, first in first out per producer")
    void eightProducers() {
        open();
        int each = 2_000;
        ConcurrentLinkedQueue<int[]> seen = new ConcurrentLinkedQueue<>();
        List<Background<Boolean>> producers = new ArrayList<>();
        CountDownLatch start = new CountDownLatch(1);
        for (int p = 0; p < 8; p++) {
            int producer = p;
            producers.add(Background.run(() -> {
                start.await();
                for (int i = 0; i < each; i++) {
                    int number = i;
                    notifier.queue(() -> seen.add(new int[] {producer, number}), Position.TAIL);
                    notifier.alert();
                }
            }));
        }
        start.countDown();
        while (seen.size() < 8 * each) {
            notifier.doOneEvent(Duration.ofSeconds(10));
        }
        producers.forEach(Background::result);

        int[] next = new int[8];
        for (int[] event : seen) {
            assertThat(event[1]).isEqualTo(next[event[0]]++);
        }
        assertThat(next).containsOnly(each);
    }

    @Test
    @DisplayName("tip-8: an event for a closed notifier is rejected, not lost silently")
    void closedNotifierRejects() {
        open();
        notifier.close();
        assertThatThrownBy(() -> notifier.queue(task("late"), Position.TAIL))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        notifier.alert();
        assertThatThrownBy(() -> notifier.doOneEvent(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
        assertThat(Notifier.current()).isNotSameAs(notifier);
        Notifier.current().close();
    }

    @Test
    @DisplayName("tip-8: queued events are deleted by a predicate, which may call back")
    void deleteByPredicate() {
        open();
        Notifier.Task keep = task("keep");
        Notifier.Task drop = task("drop");
        for (Notifier.Task each : List.of(drop, keep, drop)) {
            notifier.queue(each, Position.TAIL);
        }
        int deleted = notifier.deleteEvents(each -> {
            assertThat(Background.call(() -> notifier.toString()).result()).contains("3 events");
            return each.equals(drop);
        });
        assertThat(deleted).isEqualTo(2);
        runAll();
        assertThat(ran).containsExactly("keep");
    }

    @Test
    @DisplayName("tip-9: a handler is called while its source is ready; setting it again replaces interest and handler")
    void handlersAreSetAndReplaced() throws IOException {
        open();
        try (OpenPipe pipe = new OpenPipe()) {
            notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("first " + kind));
            assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
            pipe.write();
            assertThat(notifier.doOneEvent(null)).isTrue();
            assertThat(notifier.doOneEvent(null)).isTrue();
            notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("second"));
            assertThat(notifier.doOneEvent(null)).isTrue();
            notifier.setHandler(pipe.reader(), Interest.NONE, kind -> ran.add("never"));
            assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
            assertThat(ran).containsExactly("first READABLE", "first READABLE", "second");
        }
    }

    @Test
    @DisplayName("tip-9: a handler that is deleted after its event was queued is not called")
    void deletedHandlerIsNotCalled() throws IOException {
        open();
        try (OpenPipe one = new OpenPipe();
                OpenPipe two = new OpenPipe()) {
            // Both are ready in one wait; whichever runs first deletes the other, whose event is queued by then.
            notifier.setHandler(one.reader(), Interest.READABLE, kind -> {
                ran.add("handler");
                notifier.deleteHandler(two.reader());
            });
            notifier.setHandler(two.reader(), Interest.READABLE, kind -> {
                ran.add("handler");
                notifier.deleteHandler(one.reader());
            });
            one.write();
            two.write();
            assertThat(notifier.doOneEvent(null)).isTrue();
            assertThat(notifier.serviceOne()).isFalse();
            assertThat(ran).hasSize(1);
        }
    }

    @Test
    @DisplayName("tip-9: handlers are set and deleted by another thread while the owner waits")
    void controlFromAnotherThread() throws IOException {
        open();
        try (OpenPipe pipe = new OpenPipe()) {
            Thread owner = Thread.currentThread();
            notifier.doOneEvent(Duration.ZERO);
            Background<Boolean> other = Background.run(() -> {
                Await.until("the owner waits", () -> isWaiting(owner));
                notifier.setHandler(
                        pipe.reader(), Interest.READABLE, kind -> ran.add("handled on " + Thread.currentThread()));
                pipe.write();
            });
            assertThat(notifier.doOneEvent(null)).isTrue();
            other.result();
            assertThat(ran).containsExactly("handled on " + owner);

            Background.run(() -> notifier.deleteHandler(pipe.reader())).result();
            assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
        }
    }

    @Test
    @DisplayName("tip-9: a descriptor number that is reused meanwhile gets no stale event")
    void reusedNumberGetsNoStaleEvent() throws IOException {
        open();
        for (int i = 0; i < 50; i++) {
            OpenPipe old = new OpenPipe();
            old.write();
            OpenPipe first = new OpenPipe();
            first.write();
            AtomicReference<OpenPipe> reopened = new AtomicReference<>();
            AtomicInteger stale = new AtomicInteger();
            // The event of `old` is queued with that of `first`; then its numbers are closed and given to a new pipe.
            notifier.setHandler(first.reader(), Interest.READABLE, kind -> {
                if (reopened.get() == null) {
                    old.close();
                    OpenPipe young = OpenPipe.open();
                    reopened.set(young);
                    notifier.setHandler(young.reader(), Interest.READABLE, ready -> stale.incrementAndGet());
                }
            });
            notifier.setHandler(old.reader(), Interest.READABLE, kind -> notifier.deleteHandler(old.reader()));
            while (reopened.get() == null) {
                assertThat(notifier.doOneEvent(null)).isTrue();
            }
            notifier.deleteHandler(first.reader());
            notifier.deleteHandler(old.reader());
            while (notifier.doOneEvent(Duration.ZERO)) {
                assertThat(stale).hasValue(0);
            }
            assertThat(stale).hasValue(0);
            notifier.deleteHandler(reopened.get().reader());
            reopened.get().close();
            first.close();
            old.close();
        }
    }

    @Test
    @DisplayName("tip-9: a timer and a source in software have handlers too")
    void softwareSourcesHaveHandlers() {
        open();
        try (Timer<String> timer = Timer.withTick(Duration.ofMillis(1));
                Registration registration = new Registration()) {
            notifier.setHandler(timer, Interest.READABLE, kind -> ran.add(timer.poll()));
            notifier.setHandler(registration, Interest.READABLE, kind -> {
                ran.add("set");
                registration.unsetReadiness(Readiness.READABLE);
            });
            timer.set(Duration.ofMillis(1), "timeout");
            registration.setReadiness(Readiness.READABLE);
            notifier.doOneEvent(Duration.ofSeconds(10));
            notifier.doOneEvent(Duration.ofSeconds(10));
            assertThat(ran).containsExactlyInAnyOrder("timeout", "set");
        }
    }

    @Test
    @DisplayName("tip-12: waitFor sees one source above descriptor 1,024, runs no other handler and leaves due timers"
            + " pending")
    void waitForRunsNothingElse() throws IOException {
        open();
        List<OpenPipe> many = new ArrayList<>();
        try (Timer<String> timer = Timer.withTick(Duration.ofMillis(1))) {
            for (int i = 0; i < 600; i++) {
                many.add(new OpenPipe());
            }
            OpenPipe waited = many.getLast();
            OpenPipe other = many.getFirst();
            notifier.setHandler(timer, Interest.READABLE, kind -> ran.add("timer"));
            notifier.setHandler(other.reader(), Interest.READABLE, kind -> ran.add("handler"));
            notifier.queue(task("queued"), Position.TAIL);
            timer.set(Duration.ZERO, "due");
            other.write();

            assertThat(Notifier.waitFor(waited.reader(), Interest.READABLE, Duration.ofMillis(5)))
                    .isEqualTo(Readiness.NONE);
            waited.write();
            assertThat(Notifier.waitFor(waited.reader(), Interest.READABLE, null)
                            .isReadable())
                    .isTrue();
            assertThat(Notifier.waitFor(waited.writer(), Interest.WRITABLE, Duration.ZERO))
                    .isEqualTo(Readiness.WRITABLE);
            assertThat(waited.reader().handle().toString())
                    .as("a number beyond FD_SETSIZE")
                    .matches("fd 1[0-9]{3,}.*");
            assertThat(ran).isEmpty();

            notifier.doOneEvent(Duration.ofSeconds(10));
            notifier.doOneEvent(Duration.ofSeconds(10));
            notifier.doOneEvent(Duration.ofSeconds(10));
            assertThat(ran).contains("queued", "timer", "handler");
        } finally {
            many.forEach(OpenPipe::close);
        }
    }

    @Test
    @DisplayName("tip-12: waitFor refuses a source in software, a negative timeout, and to hold a carrier thread")
    void waitForRefuses() throws Exception {
        assertThatThrownBy(() -> Notifier.waitFor(new Registration(), Interest.READABLE, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Poll");
        try (OpenPipe pipe = new OpenPipe()) {
            assertThatThrownBy(() -> Notifier.waitFor(pipe.reader(), Interest.READABLE, Duration.ofNanos(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread.ofVirtual()
                    .start(() -> {
                        try {
                            Notifier.waitFor(pipe.reader(), Interest.READABLE, null);
                        } catch (Throwable e) {
                            thrown.set(e);
                        }
                    })
                    .join();
            assertThat(thrown.get()).isInstanceOf(IllegalStateException.class).hasMessageContaining("virtual");
        }
    }

    @Test
    @DisplayName("tip-8: only the owner runs events")
    void onlyTheOwnerRunsEvents() {
        open();
        Notifier own = notifier;
        Background<Boolean> other = Background.call(() -> own.doOneEvent(Duration.ZERO));
        assertThat(other.failure(IllegalStateException.class)).hasMessageContaining("Notifier.current()");
    }

    /** A pipe of the default family. */
    private static final class OpenPipe implements AutoCloseable {
        private final Pipe pipe;

        OpenPipe() throws IOException {
            this.pipe = Net.standard().pipe();
        }

        static OpenPipe open() {
            try {
                return new OpenPipe();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        Pipe.Reader reader() {
            return pipe.source();
        }

        Pipe.Writer writer() {
            return pipe.sink();
        }

        void write() throws IOException {
            assertThat(pipe.sink().tryWrite(ByteBuffer.wrap(new byte[1]))).isEqualTo(1);
        }

        @Override
        public void close() {
            pipe.source().close();
            pipe.sink().close();
        }
    }
}
