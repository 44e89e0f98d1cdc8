package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Waiting for a channel's messages")
@Timeout(30)
class ChannelTakeTest {
    private static final int ROUNDS = 100_000;

    private final Channel<String> channel = Channel.unbounded();
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

    private Thread take() {
        Thread receiver = Thread.ofPlatform().daemon().start(() -> {
            try {
                log.add("got " + channel.take());
            } catch (InterruptedException e) {
                log.add("interrupted");
            }
        });
        await().until(() -> receiver.getState() == Thread.State.WAITING);
        return receiver;
    }

    private String next() throws InterruptedException {
        return String.valueOf(log.poll(20, TimeUnit.SECONDS));
    }

    @Test
    @DisplayName("vt-5 a message, the end of the last sender, a close and an interrupt wake a receiver that waits")
    void wakes() throws Exception {
        take();
        channel.send("one");
        assertThat(next()).isEqualTo("got one");
        take().interrupt();
        assertThat(next()).isEqualTo("interrupted");
        Sender<String> sender = channel.sender();
        take();
        sender.close();
        assertThat(next()).isEqualTo("got null");
        assertThat(channel.take()).isNull();
    }

    @Test
    @DisplayName("vt-5 a close of the channel wakes a receiver that waits")
    void closed() throws Exception {
        take();
        channel.close();
        assertThat(next()).isEqualTo("got null");
        assertThat(channel.receive(Duration.ofMinutes(1))).isInstanceOf(Received.Disconnected.class);
    }

    @Test
    @DisplayName("vt-5 a wait has a limit, and only one thread waits")
    void limits() throws Exception {
        assertThat(channel.receive(Duration.ofMillis(1))).isInstanceOf(Received.Empty.class);
        assertThat(channel.receive(Duration.ZERO)).isInstanceOf(Received.Empty.class);
        channel.send("there");
        assertThat(channel.receive(Duration.ofMinutes(1))).isEqualTo(new Received.Item<>("there"));
        take();
        assertThatThrownBy(channel::take).isInstanceOf(IllegalStateException.class);
        channel.send("one");
        assertThat(next()).isEqualTo("got one");
    }

    @Test
    @DisplayName("vt-4 two threads that wait for each other's messages in turn never miss one")
    void pingPong() throws Exception {
        Channel<Integer> there = Channel.unbounded();
        Channel<Integer> back = Channel.unbounded();
        Thread other = Thread.ofPlatform().daemon().start(() -> {
            try {
                for (Integer next = there.take(); next != null; next = there.take()) {
                    back.send(next);
                }
            } catch (InterruptedException e) {
                log.add("interrupted");
            }
        });
        try (Sender<Integer> sender = there.sender()) {
            for (int i = 0; i < ROUNDS; i++) {
                sender.send(i);
                assertThat(back.take()).isEqualTo(i);
            }
        }
        other.join();
        assertThat(log).isEmpty();
    }
}
