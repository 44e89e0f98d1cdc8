package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Pipe;
import io.millrace.poll.Channel;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Received;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One way to wait for everything: sockets, timers, channels and users' own sources. */
@DisplayName("Sources of every kind")
public abstract class SourcesContract extends PollContract {
    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected SourcesContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("mio-1: one poll returns a socket, a timer, a channel and a user's own source")
    void onePollReturnsEveryKind() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), 1, Interest.READABLE, Trigger.LEVEL);
        Bytes.write(pair.right(), 1);
        awaitReadiness(1, Readiness.READABLE); // the byte has arrived, and stays

        Timer<String> timer = closing(Timer.create());
        Channel<String> channel = closing(Channel.unbounded());
        UserSource mailbox = closing(new UserSource());
        poll.register(timer, 2, Interest.READABLE, Trigger.EDGE);
        poll.register(channel, 3, Interest.READABLE, Trigger.EDGE);
        poll.register(mailbox, 4, Interest.READABLE, Trigger.EDGE);
        channel.send("message");
        mailbox.put("letter");
        timer.set(Duration.ZERO, "timeout");
        Await.until("the timeout is due", () -> pollsAll(timer, channel, mailbox));
    }

    /** A timer's tick may still be pending; then everything is armed once more. */
    private boolean pollsAll(Timer<String> timer, Channel<String> channel, UserSource mailbox) {
        poll.reregister(timer, 2, Interest.READABLE, Trigger.EDGE);
        poll.reregister(channel, 3, Interest.READABLE, Trigger.EDGE);
        poll.reregister(mailbox, 4, Interest.READABLE, Trigger.EDGE);
        var found = tokens(pollNow());
        assertThat(found).contains(1L, 3L, 4L);
        return found.contains(2L);
    }

    @Test
    @DisplayName("mio-2: a timer needs nothing but a poll")
    void aTimerNeedsNothingButAPoll() {
        Timer<String> timer = closing(Timer.withTick(Duration.ofMillis(1)));
        poll.register(timer, 1, Interest.READABLE, Trigger.EDGE);
        timer.set(Duration.ofMillis(2), "due");

        assertThat(pollSoon()).containsExactly(new Event(1, Readiness.READABLE));
        assertThat(timer.poll()).isEqualTo("due");
        assertThat(timer.poll()).isNull();
    }

    @Test
    @DisplayName("mio-2: a channel needs nothing but a poll")
    void aChannelNeedsNothingButAPoll() {
        Channel<String> channel = closing(Channel.unbounded());
        poll.register(channel, 1, Interest.READABLE, Trigger.EDGE);

        Background<Boolean> sender = Background.call(() -> channel.send("hello").isSent());

        assertThat(pollSoon()).containsExactly(new Event(1, Readiness.READABLE));
        assertThat(channel.receive()).isEqualTo(new Received.Item<>("hello"));
        assertThat(sender.result()).isTrue();
    }

    @Test
    @DisplayName("mio-2: both work without a poll as well")
    void timerAndChannelWorkWithoutAPoll() {
        Channel<String> channel = closing(Channel.bounded(1));
        Timer<String> timer = closing(Timer.withTick(Duration.ofNanos(1)));
        channel.send("kept");
        timer.set(Duration.ZERO, "due");

        assertThat(channel.poll()).isEqualTo("kept");
        Await.until("the timeout is due", () -> "due".equals(timer.poll()));
    }

    @Test
    @DisplayName("mio-6, mio-21: a message to a channel that was not drained is no new edge; reregistering tells of it")
    void anUndrainedChannelIsNotReportedAgain() {
        Channel<String> channel = closing(Channel.unbounded());
        poll.register(channel, 1, Interest.READABLE, Trigger.EDGE);
        channel.send("a");
        channel.send("b");
        assertThat(pollNow()).hasSize(1);
        assertThat(channel.poll()).isEqualTo("a");

        channel.send("c");
        assertThat(pollNow()).as("b was left, c has come").isEmpty();

        poll.reregister(channel, 1, Interest.READABLE, Trigger.EDGE);
        assertThat(pollNow()).hasSize(1);
        assertThat(channel.poll()).isEqualTo("b");
        assertThat(channel.poll()).isEqualTo("c");
        assertThat(channel.poll()).isNull();
        channel.send("d");
        assertThat(pollNow()).as("drained before").hasSize(1);
    }

    @Test
    @DisplayName("mio-6, mio-23: a timeout that is due while an earlier one was not taken is a new edge")
    void anUndrainedTimerIsReportedAgain() {
        ManualClock clock = new ManualClock();
        poll = open(builder().clock(clock));
        Timer<String> timer =
                closing(Timer.builder().tick(Duration.ofMillis(1)).clock(clock).build());
        poll.register(timer, 1, Interest.READABLE, Trigger.EDGE);
        timer.set(Duration.ofMillis(1), "a");
        timer.set(Duration.ofMillis(1), "b");
        timer.set(Duration.ofMillis(10), "c");
        clock.advance(Duration.ofMillis(2));
        assertThat(pollNow()).hasSize(1);
        assertThat(timer.poll()).isEqualTo("a");
        assertThat(pollNow()).as("b was left").isEmpty();

        clock.advance(Duration.ofMillis(10));
        assertThat(pollNow()).as("c is due").hasSize(1);
    }

    @Test
    @DisplayName(
            "mio-6: bytes for a pipe that was not drained are a new edge where the kernel has edges, and not elsewhere")
    void bytesForAnUndrainedPipe() throws IOException {
        Pipe pipe = pipe();
        poll.register(pipe.source(), 1, Interest.READABLE, Trigger.EDGE);
        pipe.sink().tryWrite(ByteBuffer.allocate(10));
        assertThat(pollSoon()).hasSize(1);
        assertThat(pipe.source().tryRead(ByteBuffer.allocate(1))).isOne();

        pipe.sink().tryWrite(ByteBuffer.allocate(10));
        switch (backend().name()) {
            case "epoll", "kqueue" -> assertThat(pollSoon()).hasSize(1);
            case "poll", "nio" -> assertThat(pollNow()).isEmpty();
            default -> pollNow(); // either, where others have written the backend
        }

        poll.reregister(pipe.source(), 1, Interest.READABLE, Trigger.EDGE);
        assertThat(pollSoon()).as("on every backend").hasSize(1);
    }

    @Test
    @DisplayName("mio-3: a user's type becomes a source by holding a registration")
    void aUsersTypeBecomesASource() {
        UserSource mailbox = closing(new UserSource());
        poll.register(mailbox, 1, Interest.READ_WRITE, Trigger.LEVEL);
        assertThat(pollNow()).as("empty").containsExactly(new Event(1, Readiness.WRITABLE));

        Background.run(() -> mailbox.put("letter")).result();
        assertThat(pollNow()).as("full").containsExactly(new Event(1, Readiness.READABLE));

        assertThat(mailbox.take()).isEqualTo("letter");
        assertThat(pollNow()).as("empty again").containsExactly(new Event(1, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-3: a wrapper of a socket is a source too")
    void aWrapperIsASource() {
        SocketPair pair = socketPair();
        poll.register(() -> pair.left().handle(), 1, Interest.WRITABLE, Trigger.LEVEL);

        awaitReadiness(1, Readiness.WRITABLE);
    }
}
