package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.poll.Channel;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.Offered;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Received;
import io.millrace.poll.Sender;
import io.millrace.poll.Trigger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Messages to a poll. */
@DisplayName("Channel")
public abstract class ChannelContract extends PollContract {
    private static final long TOKEN = 9;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected ChannelContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-20: a channel is readable while it holds a message, whatever queue it stands on")
    void readableWhileNotEmpty() {
        List<Channel<Integer>> kinds =
                List.of(Channel.unbounded(), Channel.bounded(4), Channel.over(new ConcurrentLinkedQueue<>()));
        for (Channel<Integer> channel : kinds) {
            closing(channel);
            poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
            assertThat(pollNow()).isEmpty();

            channel.send(1);
            channel.send(2);
            assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
            assertThat(channel.receive()).isEqualTo(new Received.Item<>(1));
            assertThat(pollNow()).as("one is left").hasSize(1);
            assertThat(channel.receive()).isEqualTo(new Received.Item<>(2));
            assertThat(pollNow()).as("empty").isEmpty();
            assertThat(channel.receive()).isEqualTo(new Received.Empty<>());
            assertThat(pollNow()).isEmpty();
            channel.close();
        }
    }

    @Test
    @DisplayName("mio-20: a full channel hands the item back and stays readable")
    void aFullChannelHandsTheItemBack() {
        for (int capacity : new int[] {1, 2, 3, 8}) {
            for (Channel<Integer> channel : List.of(
                    Channel.<Integer>bounded(capacity), Channel.<Integer>over(new ArrayBlockingQueue<>(capacity)))) {
                closing(channel);
                poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
                for (int i = 0; i < capacity; i++) {
                    assertThat(channel.send(i).isSent()).isTrue();
                }

                assertThat(channel.send(99)).as(channel.toString()).isEqualTo(new Offered.Full<>(99));

                assertThat(pollNow()).as("readiness is kept").hasSize(1);
                assertThat(channel.poll()).isZero();
                assertThat(channel.send(99).isSent()).as("there is room again").isTrue();
                for (int i = 1; i < capacity; i++) {
                    assertThat(channel.poll()).isEqualTo(i);
                }
                assertThat(channel.poll()).isEqualTo(99);
                assertThat(pollNow()).isEmpty();
                channel.close();
            }
        }
    }

    @Test
    @DisplayName("mio-20: many threads send, nothing is lost, and each sender's messages stay in order")
    void manyThreadsSend() {
        Channel<long[]> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.EDGE);
        int senders = 4;
        int each = 5_000;
        List<Background<Boolean>> threads = new ArrayList<>();
        for (int s = 0; s < senders; s++) {
            int from = s;
            threads.add(Background.run(() -> {
                for (int i = 0; i < each; i++) {
                    channel.send(new long[] {from, i});
                }
            }));
        }
        long[] next = new long[senders];
        for (int received = 0; received < senders * each; ) {
            assertThat(tokens(pollSoon())).containsExactly(TOKEN);
            for (long[] message = channel.poll(); message != null; message = channel.poll()) {
                assertThat(message[1]).as("of sender " + message[0]).isEqualTo(next[(int) message[0]]++);
                received++;
            }
        }
        threads.forEach(Background::result);
        assertThat(channel.size()).isZero();
    }

    @Test
    @DisplayName("mio-21: a send that races the registration is seen by the poll")
    void aSendRacingTheRegistrationIsSeen() {
        int rounds = 20_000;
        long seed = System.nanoTime();
        AtomicReference<@Nullable Channel<Integer>> made = new AtomicReference<>();
        AtomicInteger sent = new AtomicInteger();
        Background<Boolean> sender = Background.run(() -> {
            Random random = new Random(seed);
            for (int i = 0; i < rounds; i++) {
                Await.spinUntil("the next channel", () -> made.get() != null);
                Channel<Integer> channel = Objects.requireNonNull(made.getAndSet(null));
                Await.spin(random.nextInt(10));
                channel.send(i);
                sent.incrementAndGet();
            }
        });
        Random random = new Random(~seed);
        for (int i = 0; i < rounds; i++) {
            int round = i;
            Channel<Integer> channel = Channel.over(new ConcurrentLinkedQueue<>());
            made.set(channel);
            Await.spinUntil("the sender has it", () -> made.get() == null);
            Await.spin(random.nextInt(10));
            poll.register(channel, i, Interest.READABLE, Trigger.EDGE);
            Await.spinUntil("it is sent", () -> sent.get() > round);
            assertThat(poll.poll(events, NOW))
                    .as("round " + i + ", seed " + seed)
                    .isEqualTo(1);
            assertThat(channel.poll()).isEqualTo(i);
            channel.close();
        }
        sender.result();
    }

    @Test
    @DisplayName("mio-21: a send that races the receiver is never overlooked")
    void aSendRacingTheReceiverIsSeen() {
        Channel<Integer> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        int messages = 20_000;
        long seed = System.nanoTime();
        Background<Boolean> sender = Background.run(() -> {
            Random random = new Random(seed);
            for (int i = 0; i < messages; i++) {
                Await.spinUntil("the channel is nearly empty", () -> channel.size() <= 1);
                Await.spin(random.nextInt(30));
                channel.send(i);
            }
        });
        for (int received = 0; received < messages; ) {
            // One message per event: the test does not look for a second one, so it must cause another event.
            assertThat(pollSoon(events))
                    .as("after " + received + ", seed " + seed)
                    .isEqualTo(1);
            Integer item = channel.poll();
            if (item != null) {
                assertThat(item).isEqualTo(received++);
            }
        }
        sender.result();
        channel.poll();
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-21: an empty channel is not readable for ever: the last receive turns it off")
    void anEmptyChannelIsNotReadable() {
        Channel<Integer> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        for (int i = 0; i < 10; i++) {
            channel.send(i);
            assertThat(pollNow()).hasSize(1);
            assertThat(channel.poll()).isEqualTo(i);
            // Exactly the last message was taken; the empty queue was not looked at.
            assertThat(pollNow()).as("round " + i).isEmpty();
        }
    }

    @Test
    @DisplayName("mio-21: after any race of sends and receives an empty channel falls silent")
    void anEmptyChannelFallsSilent() throws Exception {
        Channel<Integer> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        int rounds = 2_000;
        CyclicBarrier start = new CyclicBarrier(2);
        Background<Boolean> sender = Background.run(() -> {
            for (int i = 0; i < rounds; i++) {
                start.await();
                channel.send(1);
                channel.send(2);
                start.await();
            }
        });
        for (int i = 0; i < rounds; i++) {
            start.await();
            int got = 0;
            while (got < 2) {
                assertThat(pollSoon()).as("round " + i + ", got " + got).hasSize(1);
                if (channel.poll() != null) {
                    got++;
                }
            }
            start.await();
            assertThat(channel.poll()).isNull();
            assertThat(pollNow()).as("round " + i + ": empty, and looked at").isEmpty();
        }
        sender.result();
    }

    @Test
    @DisplayName("mio-22, mio-32: when the last sender is closed the channel is readable and says disconnected")
    void theLastSenderDisconnects() {
        Channel<String> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        Sender<String> first = channel.sender();
        Sender<String> second = first.fork();
        first.send("last words");
        first.close();
        first.close();
        assertThat(channel.receive()).isEqualTo(new Received.Item<>("last words"));
        assertThat(pollNow()).as("one sender is left, whoever closed how often").isEmpty();

        second.close();

        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        assertThat(channel.receive()).isEqualTo(new Received.Disconnected<>());
        assertThat(channel.isDisconnected()).isTrue();
    }

    @Test
    @DisplayName("mio-22: what was sent before the end is received before the end")
    void messagesComeBeforeTheEnd() {
        Channel<Integer> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.EDGE);
        Background.run(() -> {
                    try (Sender<Integer> sender = channel.sender()) {
                        sender.send(1);
                        sender.send(2);
                    }
                })
                .result();
        assertThat(pollNow()).hasSize(1);
        assertThat(channel.receive()).isEqualTo(new Received.Item<>(1));
        assertThat(channel.receive()).isEqualTo(new Received.Item<>(2));
        assertThat(channel.receive()).isEqualTo(new Received.Disconnected<>());
        assertThat(channel.receive()).as("for ever").isEqualTo(new Received.Disconnected<>());
    }

    @Test
    @DisplayName("mio-22: a sleeping poll hears of the end")
    void theEndWakesASleepingPoll() {
        Channel<Integer> channel = closing(Channel.unbounded());
        Sender<Integer> sender = channel.sender();
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.EDGE);
        Background<List<Event>> sleeper = Background.call(() -> poll(SOON));
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        sender.close();

        assertThat(sleeper.result()).containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-22: a closed receiver hands the item back, and is silent")
    void aClosedReceiverHandsTheItemBack() {
        Channel<String> channel = Channel.unbounded();
        Sender<String> sender = channel.sender();
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        sender.send("before");

        channel.close();

        assertThat(sender.send("after")).isEqualTo(new Offered.Disconnected<>("after"));
        assertThat(channel.send("after")).isEqualTo(new Offered.Disconnected<>("after"));
        sender.close();
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-32: senders are counted; after the last one there is no other")
    void sendersAreCounted() {
        Channel<String> channel = closing(Channel.unbounded());
        assertThat(channel.send("the channel itself").isSent())
                .as("without a sender")
                .isTrue();
        List<Sender<String>> senders = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            senders.add(channel.sender());
        }
        for (Sender<String> sender : senders) {
            assertThat(channel.isDisconnected()).isFalse();
            sender.close();
            assertThat(sender.send("late")).isEqualTo(new Offered.Disconnected<>("late"));
        }
        assertThat(channel.poll()).isEqualTo("the channel itself");
        assertThat(channel.isDisconnected()).isTrue();

        assertThatIllegalStateException().isThrownBy(channel::sender).withMessageContaining("the last one was closed");
        assertThat(channel.send("late")).isEqualTo(new Offered.Disconnected<>("late"));
    }

    @Test
    @DisplayName("mio-14: a channel belongs to one poll, as every software source")
    void aChannelBelongsToOnePoll() {
        Channel<String> channel = closing(Channel.over(new ArrayDeque<>()));
        Poll other = open(builder());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.EDGE);
        assertThatIllegalStateException()
                .isThrownBy(() -> other.register(channel, TOKEN, Interest.READABLE, Trigger.EDGE));
        channel.send("still works");
        assertThat(tokens(pollNow())).containsExactly(TOKEN);
    }

    @Test
    @DisplayName("mio-22, mio-32: a message that is on its way when its sender is closed comes before the end")
    void aCloseLetsASendFinish() {
        CountDownLatch offering = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Channel<String> channel = closing(Channel.over(new ConcurrentLinkedQueue<>() {
            @Override
            public boolean offer(String item) {
                offering.countDown();
                awaitLatch(go);
                return super.offer(item);
            }
        }));
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        Sender<String> sender = channel.sender();
        Background<Offered<String>> sending = Background.call(() -> sender.send("last"));
        awaitLatch(offering);

        sender.close();
        assertThat(channel.receive())
                .as("one thread still sends")
                .isEqualTo(Received.empty())
                .isNotEqualTo(Received.disconnected());
        assertThat(sender.send("late").isSent()).isFalse();
        go.countDown();

        assertThat(sending.result().isSent()).isTrue();
        assertThat(tokens(pollSoon())).containsExactly(TOKEN);
        assertThat(channel.receive()).isEqualTo(new Received.Item<>("last"));
        assertThat(channel.receive()).isEqualTo(Received.disconnected());
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
