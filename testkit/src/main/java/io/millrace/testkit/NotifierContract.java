package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.net.ChildProcess;
import io.millrace.net.FdSource;
import io.millrace.net.FileEvent;
import io.millrace.net.FileSource;
import io.millrace.net.FileWatch;
import io.millrace.net.Io;
import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.net.SignalSource;
import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Notifier.Position;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The notifier of TIP 458: one per thread, with a queue to which other threads may add events. */
@DisplayName("The notifier")
public abstract class NotifierContract extends PollContract {
    /** Opened by each test, because it belongs to the test's thread. */
    @SuppressWarnings("NullAway.Init")
    private Notifier notifier;

    private static final Duration WAIT = Duration.ofMillis(200);

    private final List<String> ran = new ArrayList<>();

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected NotifierContract(TestedBackend backend) {
        super(backend);
    }

    /** Called by the test itself, which runs on a separate thread. */
    private void open() {
        Notifier.current().close();
        notifier = closing(Notifier.open(builder()));
    }

    private boolean isNio() {
        return backend().name().equals("nio");
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
            "tip-4: a thread that never waits opens no descriptor; one that waits has an epoll instance and an eventfd"
                    + " on Linux, and no thread is started")
    void descriptorsAreOpenedByTheFirstWait() {
        open();
        Map<String, Integer> before = OpenFiles.count();
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        notifier.queue(task("a"), Position.TAIL);
        notifier.alert();
        assertThat(notifier.serviceOne()).isTrue();
        assertThat(OpenFiles.areNoMoreThan(before))
                .as("%s, not %s", OpenFiles.count(), before)
                .isTrue();

        notifier.doOneEvent(Duration.ZERO);
        notifier.doOneEvent(Duration.ofMillis(1));

        Map<String, Integer> opened = OpenFiles.count();
        before.forEach((kind, count) -> opened.merge(kind, -count, Integer::sum));
        opened.values().removeIf(count -> count == 0);
        switch (backend().name()) {
            case "epoll", "chaos" -> assertThat(opened).isEqualTo(Map.of("[eventpoll]", 1, "[eventfd]", 1));
            case "poll" -> assertThat(opened).isEqualTo(Map.of("[eventfd]", 1));
            default -> assertThat(opened).as("whatever it is made of").isNotEmpty();
        }
        assertThat(Thread.getAllStackTraces().keySet()).as("no thread helps").isSubsetOf(threads);

        notifier.close();
        notifier.close();
        assertThat(OpenFiles.areNoMoreThan(before))
                .as("%s, not %s", OpenFiles.count(), before)
                .isTrue();
    }

    @Test
    @DisplayName("tip-4: a thread has one notifier, on the backend that it asks for")
    void oneNotifierPerThread() {
        open();
        assertThat(Notifier.current()).isSameAs(notifier);
        assertThatThrownBy(() -> Notifier.open(builder()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("close Notifier.current() first");
        Background<Notifier> other = Background.call(() -> {
            try (Notifier own = Notifier.current()) {
                return own;
            }
        });
        assertThat(other.result()).isNotSameAs(notifier);

        notifier.close();
        try (Notifier next = Notifier.open(builder())) {
            assertThat(next).isSameAs(Notifier.current()).isNotSameAs(notifier);
        }
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
    @DisplayName("tip-8: the next mark goes behind earlier marks also if the last of them is gone")
    void theMarkOutlivesItsEvent() {
        open();
        Notifier.Task deleted = task("deleted");
        notifier.queue(task("tail 1"), Position.TAIL);
        notifier.queue(task("mark 1"), Position.MARK);
        notifier.queue(task("mark 2"), Position.MARK);
        notifier.queue(deleted, Position.MARK);
        assertThat(notifier.deleteEvents(deleted::equals)).isEqualTo(1);
        notifier.queue(task("mark 3"), Position.MARK);
        notifier.queue(task("head"), Position.HEAD);

        assertThat(notifier.serviceOne()).isTrue();
        assertThat(notifier.serviceOne()).isTrue();
        notifier.queue(task("mark 4"), Position.MARK);
        runAll();

        assertThat(ran).containsExactly("head", "mark 1", "mark 2", "mark 3", "mark 4", "tail 1");
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
            try (Notifier own = Notifier.open(builder())) {
                target.set(own);
                return own.doOneEvent(null);
            }
        });
        Await.until("the other thread has a notifier", () -> target.get() != null);

        Notifier theirs = Objects.requireNonNull(target.get());
        theirs.queue(
                () -> {
                    ranOn.set(Thread.currentThread());
                    return true;
                },
                Position.TAIL);
        theirs.alert();

        assertThat(owner.result()).isTrue();
        assertThat(ranOn).hasValue(owner.thread());
        assertThat(Notifier.current()).isSameAs(notifier).isNotSameAs(theirs);
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

        Duration next = Duration.ofMillis(50);
        long start = System.nanoTime();
        assertThat(notifier.doOneEvent(next)).isFalse();
        assertThat(System.nanoTime() - start).as("the wait after it").isGreaterThanOrEqualTo(next.toNanos());
    }

    @Test
    @DisplayName("tip-8: an event that throws is over, and the next one runs")
    void aThrowingEventIsOver() {
        open();
        IllegalStateException failure = new IllegalStateException("thrown by the test");
        notifier.queue(
                () -> {
                    ran.add("throws");
                    throw failure;
                },
                Notifier.Position.TAIL);
        notifier.queue(() -> ran.add("next"), Notifier.Position.TAIL);

        assertThatThrownBy(() -> notifier.doOneEvent(Duration.ZERO)).isSameAs(failure);
        assertThat(notifier.doOneEvent(Duration.ZERO)).isTrue();
        assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
        assertThat(ran).containsExactly("throws", "next");
    }

    @Test
    @DisplayName("tip-8: an event that waits for others runs those, and not itself")
    void aNestedCallRunsOthers() {
        open();
        notifier.queue(
                () -> {
                    ran.add("begins");
                    assertThat(notifier.doOneEvent(Duration.ZERO)).isTrue();
                    assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
                    ran.add("ends");
                    return true;
                },
                Notifier.Position.TAIL);
        notifier.queue(() -> ran.add("other"), Notifier.Position.TAIL);

        assertThat(notifier.doOneEvent(Duration.ZERO)).isTrue();
        assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
        assertThat(ran).containsExactly("begins", "other", "ends");
    }

    @Test
    @DisplayName("tip-8: no event runs when the one before it has closed the notifier, willing or not")
    void noEventRunsAfterTheClose() {
        for (boolean willing : new boolean[] {true, false}) {
            open();
            notifier.queue(
                    () -> {
                        notifier.close();
                        ran.add("closes");
                        return willing;
                    },
                    Notifier.Position.TAIL);
            notifier.queue(() -> ran.add("late"), Notifier.Position.TAIL);

            assertThat(notifier.serviceOne()).isEqualTo(willing);
            assertThat(ran).containsExactly("closes");
            ran.clear();
        }
    }

    @Test
    @DisplayName("tip-8, tip-9: deleting events leaves those of handlers alone; a replaced handler is not called")
    void theEventsOfHandlers() throws IOException {
        open();
        try (Registration first = new Registration();
                Registration second = new Registration()) {
            notifier.setHandler(first, Interest.READABLE, kind -> ran.add("first"));
            notifier.setHandler(second, Interest.READABLE, kind -> ran.add("second"));
            first.setReadiness(Readiness.READABLE);
            second.setReadiness(Readiness.READABLE);
            assertThat(notifier.doOneEvent(null)).isTrue();

            // The event of the other one is in the queue.
            assertThat(notifier.deleteEvents(task -> true)).isZero();
            assertThat(notifier.serviceOne()).isTrue();
            assertThat(ran).containsExactlyInAnyOrder("first", "second");

            ran.clear();
            assertThat(notifier.doOneEvent(null)).isTrue();
            Registration waits = ran.contains("first") ? second : first;
            notifier.setHandler(waits, Interest.READABLE, kind -> ran.add("new"));
            for (int i = 0; i < 4; i++) {
                notifier.doOneEvent(null);
            }
            assertThat(ran).contains("new").doesNotContain(waits.equals(first) ? "first" : "second");
        }
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
        try (OpenPipe pipe = new OpenPipe(net())) {
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
        try (OpenPipe one = new OpenPipe(net());
                OpenPipe two = new OpenPipe(net())) {
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
        try (OpenPipe pipe = new OpenPipe(net())) {
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
            OpenPipe old = new OpenPipe(net());
            old.write();
            OpenPipe first = new OpenPipe(net());
            first.write();
            AtomicReference<OpenPipe> reopened = new AtomicReference<>();
            AtomicInteger stale = new AtomicInteger();
            // The event of `old` is queued with that of `first`; then its numbers are closed and given to a new pipe.
            notifier.setHandler(first.reader(), Interest.READABLE, kind -> {
                if (reopened.get() == null) {
                    old.close();
                    OpenPipe young = OpenPipe.open(net());
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
                many.add(new OpenPipe(net()));
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
            assertThat(OpenFiles.count().get("pipe"))
                    .as("so the last one's number is beyond FD_SETSIZE")
                    .isGreaterThan(1_100);
            if (!isNio()) {
                assertThat(waited.reader().handle().toString()).matches("fd 1[0-9]{3,}.*");
            }
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
        try (OpenPipe pipe = new OpenPipe(net())) {
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

    @Test
    @DisplayName("tip-6: a file and a socket have handlers, and neither starves")
    void aFileAndASocket() throws IOException {
        open();
        Path path = Files.createTempFile("millrace", "file");
        try (FileSource file = net().file(path, StandardOpenOption.WRITE);
                OpenPipe pipe = new OpenPipe(net())) {
            SocketPair pair = socketPair();
            AtomicInteger files = new AtomicInteger();
            notifier.setHandler(file, Interest.READ_WRITE, kind -> files.incrementAndGet());
            for (int i = 0; i < 3; i++) {
                assertThat(notifier.doOneEvent(null)).as("always ready").isTrue();
            }
            assertThat(files).hasValue(3);

            notifier.setHandler(pair.left(), Interest.READABLE, kind -> ran.add("socket"));
            notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("pipe"));
            Bytes.write(pair.right(), 1);
            pipe.write();
            Await.until("the socket and the pipe beside the file", () -> {
                notifier.doOneEvent(null);
                return ran.contains("socket") && ran.contains("pipe");
            });
            int before = files.get();
            Await.until("the file beside the socket and the pipe", () -> {
                notifier.doOneEvent(null);
                return files.get() > before + 3;
            });
        } finally {
            Files.delete(path);
        }
    }

    @Test
    @DisplayName("tip-7: a source that the first wait refuses loses its handler, and every other one keeps its own")
    void oneIsRefused() throws IOException {
        open();
        List<Channel<String>> channels = new ArrayList<>();
        try (Poll elsewhere = Poll.open();
                Registration taken = new Registration();
                Registration alsoTaken = new Registration()) {
            elsewhere.register(taken, 0, Interest.READABLE, Trigger.EDGE);
            elsewhere.register(alsoTaken, 1, Interest.READABLE, Trigger.EDGE);
            for (int i = 0; i < 6; i++) {
                Channel<String> channel = Channel.unbounded();
                channels.add(channel);
                notifier.setHandler(channel, Interest.READABLE, kind -> ran.add(String.valueOf(channel.poll())));
                channel.send("message " + i);
                if (i == 1) {
                    notifier.setHandler(taken, Interest.READABLE, kind -> ran.add("never"));
                } else if (i == 3) {
                    notifier.setHandler(alsoTaken, Interest.READABLE, kind -> ran.add("never"));
                }
            }
            assertThatThrownBy(() -> notifier.doOneEvent(Duration.ZERO))
                    .isInstanceOf(IllegalStateException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            while (notifier.doOneEvent(Duration.ZERO)) {
                // Until there is nothing left.
            }
            assertThat(ran).hasSize(6);
        } finally {
            channels.forEach(Channel::close);
        }
    }

    @Test
    @DisplayName("tip-7: a descriptor has a handler on a native backend; NIO refuses it and says what to do")
    void aDescriptor() throws IOException {
        open();
        // A fifo that only this test has open: neither a file nor a NIO channel.
        Path fifo = fifo();
        try (RandomAccessFile both = new RandomAccessFile(fifo.toFile(), "rw");
                FdSource source = FdSource.adopt(numberOf(fifo))) {
            if (isNio()) {
                notifier.setHandler(source, Interest.READABLE, kind -> ran.add("never"));
                Map<String, Integer> before = OpenFiles.count();
                assertThatThrownBy(() -> notifier.doOneEvent(Duration.ZERO))
                        .as("the first wait opens the poll, which refuses it")
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("the backend nio takes channels, not descriptors")
                        .hasMessageContaining("native backend");
                assertThat(notifier.doOneEvent(Duration.ZERO))
                        .as("and the notifier goes on")
                        .isFalse();
                assertThatThrownBy(() -> notifier.setHandler(source, Interest.READABLE, kind -> ran.add("never")))
                        .as("later, at once")
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
                assertThat(ran).isEmpty();
                notifier.close();
                assertThat(OpenFiles.count()).as("nothing stays open").isEqualTo(before);
                return;
            }
            notifier.setHandler(source, Interest.READABLE, kind -> ran.add("readable"));
            assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
            both.write('x');
            assertThat(notifier.doOneEvent(null)).isTrue();
            assertThat(ran).containsExactly("readable");
            assertThat(Notifier.waitFor(source, Interest.READABLE, null)).isEqualTo(Readiness.READABLE);
            assertThat(source.tryRead(ByteBuffer.allocate(8))).isEqualTo(1);
            assertThat(Notifier.waitFor(source, Interest.READABLE, Duration.ofMillis(1)))
                    .isEqualTo(Readiness.NONE);
        } finally {
            Files.delete(fifo);
        }
    }

    private static Path fifo() throws IOException {
        Path fifo = Files.createTempDirectory("millrace").resolve("fifo");
        shell("mkfifo " + fifo);
        return fifo;
    }

    private static int numberOf(Path file) throws IOException {
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                if (Files.exists(link) && Files.isSameFile(link, file)) {
                    return Integer.parseInt(link.getFileName().toString());
                }
            }
        }
        throw new AssertionError(file + " is not open");
    }

    /** Runs a command in another process. */
    private static void shell(String command) throws IOException {
        try {
            assertThat(new ProcessBuilder("sh", "-c", command)
                            .inheritIO()
                            .start()
                            .waitFor())
                    .as(command)
                    .isZero();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("mr-6: a signal, a file change, a child's end, a pipe and a descriptor have handlers, all driven from"
            + " outside the process")
    void drivenFromOutside() throws IOException {
        open();
        Path fifo = fifo();
        Path directory = Files.createTempDirectory("millrace");
        long self = ProcessHandle.current().pid();
        try (RandomAccessFile keepsItOpen = new RandomAccessFile(fifo.toFile(), "rw");
                FdSource descriptor = FdSource.adopt(numberOf(fifo));
                SignalSource signal = SignalSource.of("USR2");
                FileWatch watch = net().fileWatch();
                ChildProcess child = net().process("sh", "-c", "read line; echo \"$line\"; exit 7")
                        .stdin(isNio() ? ChildProcess.Stdio.DISCARD : ChildProcess.Stdio.PIPE)
                        .stdout(isNio() ? ChildProcess.Stdio.DISCARD : ChildProcess.Stdio.PIPE)
                        .stderr(ChildProcess.Stdio.INHERIT)
                        .start()) {
            assertThat(keepsItOpen.getChannel().isOpen()).isTrue();
            watch.watch(directory);
            notifier.setHandler(signal, Interest.READABLE, kind -> ran.add("signal " + signal.poll()));
            notifier.setHandler(watch, Interest.READABLE, kind -> take(watch));
            notifier.setHandler(child, Interest.READABLE, kind -> {
                take(child);
                notifier.deleteHandler(child);
            });
            if (!isNio()) {
                notifier.setHandler(child.stdout(), Interest.READABLE, kind -> {
                    ByteBuffer line = ByteBuffer.allocate(16);
                    if (read(child.stdout(), line) > 0) {
                        ran.add("pipe " + StandardCharsets.US_ASCII.decode(line.flip()));
                    } else {
                        notifier.deleteHandler(child.stdout()); // the child has closed it
                    }
                });
                notifier.setHandler(descriptor, Interest.READABLE, kind -> {
                    ByteBuffer line = ByteBuffer.allocate(16);
                    read(descriptor, line);
                    ran.add("descriptor " + StandardCharsets.US_ASCII.decode(line.flip()));
                });
            }
            assertThat(notifier.doOneEvent(Duration.ZERO) && !isNio())
                    .as("nothing happened yet, except that a child without input ends at once")
                    .isFalse();

            shell("kill -USR2 " + self + "; : > " + directory.resolve("made"));
            expect("signal USR2");
            expect("CREATED " + directory.resolve("made"));
            if (!isNio()) {
                shell("echo water > " + fifo);
                expect("descriptor water\n");
                assertThat(child.stdin().tryWrite(ByteBuffer.wrap("mill\n".getBytes(StandardCharsets.US_ASCII))))
                        .isEqualTo(5);
                expect("pipe mill\n");
            }
            expect("exit code 7");
        } finally {
            shell("rm -r " + directory + " " + fifo.getParent());
        }
    }

    private void expect(String what) {
        Await.until(what + ", after " + ran, () -> {
            notifier.doOneEvent(Duration.ofMillis(100));
            return ran.contains(what);
        });
    }

    private void take(FileWatch watch) {
        try {
            for (FileEvent event = watch.poll(); event != null; event = watch.poll()) {
                ran.add(event.toString());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void take(ChildProcess child) {
        try {
            ran.add(String.valueOf(child.poll()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int read(Io source, ByteBuffer into) {
        try {
            return source instanceof Pipe.Reader pipe ? pipe.tryRead(into) : ((FdSource) source).tryRead(into);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("mr-7: a source whose handler was deleted is collected, and closed, though nobody closed it")
    void aDroppedSourceIsClosed() throws IOException {
        open();
        Map<String, Integer> before;
        try (OpenPipe pipe = new OpenPipe(net())) {
            notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("never"));
            notifier.doOneEvent(Duration.ZERO); // opens the poll
        }
        before = OpenFiles.count();
        setAndDelete();
        assertThat(OpenFiles.count().get("pipe")).isEqualTo(before.getOrDefault("pipe", 0) + 2);

        Await.until("it is collected", () -> {
            System.gc();
            notifier.doOneEvent(Duration.ZERO); // polling sweeps for leaks
            return OpenFiles.areNoMoreThan(before);
        });
        assertThat(ran).isEmpty();
    }

    /** A separate method, so that nothing on the stack keeps the pipe alive. */
    private void setAndDelete() throws IOException {
        Pipe pipe = net().pipe();
        notifier.setHandler(pipe.source(), Interest.READABLE, kind -> {});
        notifier.doOneEvent(Duration.ZERO);
        notifier.deleteHandler(pipe.source());
    }

    @Test
    @DisplayName("tip-9: a source that its owner closed is silent, and its handler can be deleted")
    void aClosedSource() throws IOException {
        open();
        OpenPipe early = new OpenPipe(net());
        early.close();
        notifier.setHandler(early.reader(), Interest.READABLE, kind -> ran.add("early"));
        assertThatThrownBy(() -> notifier.doOneEvent(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
        Map<String, Integer> opened = OpenFiles.count();
        assertThat(notifier.doOneEvent(Duration.ZERO)).as("it said so once").isFalse();
        assertThat(OpenFiles.count()).as("one poll for both waits").isEqualTo(opened);

        OpenPipe pipe = new OpenPipe(net());
        Registration registration = new Registration();
        notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("pipe"));
        notifier.setHandler(registration, Interest.READABLE, kind -> ran.add("registration"));
        pipe.write();
        registration.setReadiness(Readiness.READABLE);
        pipe.close();
        registration.close();

        assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
        notifier.deleteHandler(pipe.reader());
        notifier.deleteHandler(registration);
        notifier.deleteHandler(registration);
        assertThatThrownBy(() -> notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("late")))
                .isInstanceOf(IllegalStateException.class);
        assertThat(ran).isEmpty();
    }

    @Test
    @DisplayName("tip-8: a notifier that is closed by another thread while its owner waits says so to the owner")
    void closedWhileTheOwnerWaits() throws IOException {
        open();
        try (OpenPipe pipe = new OpenPipe(net())) {
            Thread owner = Thread.currentThread();
            notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> ran.add("never"));
            Background<Boolean> closer = Background.run(() -> {
                Await.until("the owner waits", () -> isWaiting(owner));
                notifier.close();
                pipe.write();
            });
            assertThatThrownBy(() -> notifier.doOneEvent(null)).isInstanceOf(IllegalStateException.class);
            closer.result();
            assertThat(ran).isEmpty();
        }
    }

    @Test
    @DisplayName("tip-8: a handler may close its own notifier")
    void aHandlerClosesTheNotifier() throws IOException {
        open();
        try (OpenPipe pipe = new OpenPipe(net())) {
            notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> notifier.close());
            pipe.write();
            assertThat(notifier.doOneEvent(null)).isTrue();
            assertThatThrownBy(() -> notifier.doOneEvent(null)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisplayName("tip-12: waitFor ends when another thread closes the source, and the descriptor is given back")
    void waitForEndsWithAClose() throws IOException {
        Map<String, Integer> before = OpenFiles.count();
        for (Duration timeout : new Duration[] {null, Duration.ofMinutes(10)}) {
            OpenPipe pipe = new OpenPipe(net());
            Background<Readiness> waiter =
                    Background.call(() -> Notifier.waitFor(pipe.reader(), Interest.READABLE, timeout));
            Await.until("it waits", () -> isWaiting(waiter.thread()));

            pipe.reader()
                    .close(); // its other end stays open, because closing it would be a hang-up, which ends a wait by
            // itself

            assertThat(waiter.failure(UncheckedIOException.class)).hasCauseInstanceOf(ClosedChannelException.class);
            pipe.close();
        }
        assertThatThrownBy(() -> {
                    OpenPipe pipe = new OpenPipe(net());
                    pipe.close();
                    Notifier.waitFor(pipe.reader(), Interest.READABLE, Duration.ZERO);
                })
                .isInstanceOf(UncheckedIOException.class);
        assertThat(OpenFiles.areNoMoreThan(before))
                .as("%s, not %s", OpenFiles.count(), before)
                .isTrue();
    }

    @Test
    @DisplayName("end-7, tip-9: a handler whose source was closed after its event was queued is not called")
    void aHandlerOfAClosedSourceIsNotCalled() throws IOException {
        open();
        for (boolean software : new boolean[] {false, true}) {
            try (OpenPipe pipe = new OpenPipe(net());
                    OpenPipe other = new OpenPipe(net());
                    Registration registration = new Registration()) {
                AutoCloseable second = software ? registration : other.reader();
                // Whichever comes first closes the other one, whose event is in the queue by then.
                notifier.setHandler(pipe.reader(), Interest.READABLE, kind -> closeAfter("first", second));
                notifier.setHandler(
                        software ? registration : other.reader(),
                        Interest.READABLE,
                        kind -> closeAfter("second", pipe.reader()));
                pipe.write();
                other.write();
                registration.setReadiness(Readiness.READABLE);

                assertThat(notifier.doOneEvent(null)).isTrue();
                assertThat(ran).hasSize(1);
                notifier.doOneEvent(Duration.ZERO);
                assertThat(Set.copyOf(ran)).as("handlers that ran").hasSize(1);
                notifier.deleteHandler(pipe.reader());
                notifier.deleteHandler(registration);
                notifier.deleteHandler(other.reader());
            }
            ran.clear();
        }
    }

    private void closeAfter(String name, AutoCloseable other) {
        ran.add(name);
        try {
            other.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("end-7: handlers of closed sources are forgotten, their tokens used again")
    void handlersOfClosedSourcesAreForgotten() throws IOException {
        open();
        notifier.doOneEvent(Duration.ZERO); // opens the poll
        List<WeakReference<Object>> handlers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            handlers.add(setAndClose(i));
        }

        Await.until("every handler is collected", () -> {
            System.gc();
            return handlers.stream().allMatch(handler -> handler.refersTo(null));
        });
        assertThat(notifier.doOneEvent(Duration.ZERO)).isFalse();
        assertThat(ran).isEmpty();
    }

    @Test
    @DisplayName("end-7: so are those of a notifier that never waits, but for a few")
    void handlersAreForgottenWithoutAWait() throws IOException {
        open();
        List<WeakReference<Object>> handlers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            handlers.add(setAndClose(i));
        }

        Await.until("nearly every handler is collected", () -> {
            System.gc();
            return handlers.stream().filter(handler -> !handler.refersTo(null)).count() < 200;
        });
    }

    /** A separate method, so that nothing on the stack keeps the handler alive. */
    private WeakReference<Object> setAndClose(int round) throws IOException {
        Notifier.SourceHandler handler = kind -> ran.add("handler " + round);
        if (round % 2 == 0) {
            try (Registration registration = new Registration()) {
                notifier.setHandler(registration, Interest.READABLE, handler);
                notifier.setHandler(registration, Interest.READ_WRITE, handler);
            }
        } else {
            try (OpenPipe pipe = new OpenPipe(net())) {
                notifier.setHandler(pipe.reader(), Interest.READABLE, handler);
            }
        }
        return new WeakReference<>(handler);
    }

    @Test
    @DisplayName("tip-12: waitFor does not spin on a hang-up that nobody asked for")
    void waitForDoesNotSpinOnAHangUp() throws IOException {
        SocketPair pair = socketPair();
        pair.left().shutdownOutput();
        pair.right().close();
        assertThat(Notifier.waitFor(pair.left(), Interest.READABLE, null).isReadable())
                .isTrue();

        for (Interest interest : List.of(Interest.NONE, Interest.PRIORITY)) {
            assertThat(cpuMillisOfAWait(pair.left(), interest))
                    .as("CPU time of a wait of %s with interest %s", WAIT, interest)
                    .isLessThan(WAIT.toMillis() / 2);
        }
    }

    @Test
    @DisplayName("tip-12: nor does it on a thread that is interrupted")
    void waitForDoesNotSpinWhenInterrupted() {
        SocketPair pair = socketPair();
        try {
            Thread.currentThread().interrupt();
            assertThat(cpuMillisOfAWait(pair.left(), Interest.READABLE)).isLessThan(WAIT.toMillis() / 2);
            assertThat(Thread.currentThread().isInterrupted())
                    .as("the interrupt is still there")
                    .isTrue();
        } finally {
            Thread.interrupted();
        }
    }

    /** A spin takes all the processor time that it gets; a wait takes none. */
    private static long cpuMillisOfAWait(Source source, Interest interest) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = System.nanoTime();
        long before = threads.getCurrentThreadCpuTime();
        assertThat(Notifier.waitFor(source, interest, WAIT)).isEqualTo(Readiness.NONE);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(WAIT.toNanos());
        return (threads.getCurrentThreadCpuTime() - before) / 1_000_000;
    }

    /** A pipe of the family that the backend accepts. */
    private static final class OpenPipe implements AutoCloseable {
        private final Pipe pipe;

        OpenPipe(Net net) throws IOException {
            this.pipe = net.pipe();
        }

        static OpenPipe open(Net net) {
            try {
                return new OpenPipe(net);
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
