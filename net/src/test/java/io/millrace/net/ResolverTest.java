package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("mr-6: names are resolved without holding up a loop")
class ResolverTest {
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    @Test
    void aLookUpThatWaitsHoldsUpNobodyAndIsReadableAtItsEnd() throws IOException {
        CountDownLatch answer = new CountDownLatch(1);
        Resolver resolver = Resolver.over(name -> {
            await(answer);
            return List.of(InetAddress.getByAddress(name, new byte[] {127, 0, 0, 9}));
        });
        try (Poll poll = Poll.open();
                Resolver.Lookup lookup = resolver.lookUp("slow.test")) {
            Events events = Events.withCapacity(4);
            poll.register(lookup, 7, Interest.READABLE, Trigger.ONESHOT);
            assertThat(poll.poll(events, Duration.ZERO)).isZero();
            assertThat(lookup.isDone()).isFalse();
            assertThatThrownBy(lookup::result)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("slow.test");

            answer.countDown();

            assertThat(poll.poll(events, DEADLINE)).isEqualTo(1);
            assertThat(events.advance()).isTrue();
            assertThat(events.token()).isEqualTo(7);
            assertThat(lookup.result()).extracting(InetAddress::getHostAddress).containsExactly("127.0.0.9");
        }
    }

    @Test
    void theSystemKnowsLocalhost() throws Exception {
        try (Resolver.Lookup lookup = Resolver.system().lookUp("localhost")) {
            assertThat(lookup.future().get(10, TimeUnit.SECONDS)).isNotEmpty().allMatch(InetAddress::isLoopbackAddress);
        }
    }

    @Test
    void anUnknownNameIsAnAnswerToo() {
        Resolver resolver = Resolver.over(name -> {
            throw new UnknownHostException(name);
        });
        try (Poll poll = Poll.open();
                Resolver.Lookup lookup = resolver.lookUp("nobody.test")) {
            poll.register(lookup, 1, Interest.READABLE, Trigger.ONESHOT);
            assertThat(poll.poll(Events.withCapacity(1), DEADLINE)).isEqualTo(1);
            assertThatThrownBy(lookup::result)
                    .isInstanceOf(UnknownHostException.class)
                    .hasMessageContaining("cannot resolve nobody.test");
            assertThatThrownBy(() -> lookup.future().get())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(UnknownHostException.class);
        }
    }

    @Test
    void aDirectoryThatThrowsOrIsEmptyDoesNotLeaveTheLookUpUnderWay() throws Exception {
        for (Resolver.Directory broken : List.<Resolver.Directory>of(
                name -> {
                    throw new IllegalStateException("broken");
                },
                name -> List.of())) {
            Resolver.Lookup lookup = Resolver.over(broken).lookUp("x.test");
            assertThatThrownBy(() -> lookup.future().get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
            assertThatThrownBy(lookup::result).isInstanceOf(IOException.class).hasMessageContaining("x.test");
        }
    }

    @Test
    void aClosedLookUpIsSilent() {
        CountDownLatch answer = new CountDownLatch(1);
        try (Poll poll = Poll.open()) {
            Resolver.Lookup lookup = Resolver.over(name -> {
                        await(answer);
                        return List.of(InetAddress.getLoopbackAddress());
                    })
                    .lookUp("late.test");
            poll.register(lookup, 1, Interest.READABLE, Trigger.LEVEL);
            lookup.close();
            answer.countDown();
            lookup.future().join();
            assertThat(poll.poll(Events.withCapacity(1), Duration.ZERO)).isZero();
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
