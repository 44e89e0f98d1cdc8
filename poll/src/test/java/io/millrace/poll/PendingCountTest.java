package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** How a channel's readiness follows its queue, one thread at a time and with the steps of a slow sender taken apart. */
class PendingCountTest {
    private final SoftNode node = new SoftNode();
    private final PendingCount pending = new PendingCount(node);
    private final Queue<Integer> queue = new ArrayDeque<>();

    @Test
    void theFirstMessageMakesItReadableAndTheLastOneNot_mio21() {
        send();
        send();
        assertThat(isReadable()).isTrue();

        receive();
        assertThat(isReadable()).as("one is left").isTrue();
        receive();

        assertThat(isReadable()).as("none is left").isFalse();
    }

    @Test
    void aMessageReceivedBeforeItsSenderCountedItLeavesNoMessageOverlooked_mio21() {
        queue.add(1); // its sender is slow
        send();
        receive();
        assertThat(queue).hasSize(1);

        pending.countSent(); // now it has counted

        assertThat(isReadable()).isTrue();
    }

    @Test
    void readinessLeftOnByASlowSenderEndsWithALookThatFindsNothing_mio21() {
        queue.add(1);
        receive();
        pending.countSent();
        assertThat(isReadable()).as("allowed: spurious").isTrue();

        pending.settleEmpty(queue);

        assertThat(isReadable()).isFalse();
        send();
        assertThat(isReadable()).as("and the next message is not overlooked").isTrue();
    }

    @Test
    void aLookThatFoundNothingBecauseItWasTooEarlyLeavesItReadable_mio21() {
        send(); // after the receiver's look and before its unset

        pending.settleEmpty(queue);

        assertThat(isReadable()).isTrue();
    }

    @Test
    void anEndedChannelIsReadableForEver_mio22() {
        send();
        pending.end();
        receive();
        assertThat(isReadable()).isTrue();

        pending.settleEmpty(queue);

        assertThat(isReadable()).isTrue();
    }

    private void send() {
        queue.add(1);
        pending.countSent();
    }

    private void receive() {
        queue.remove();
        pending.countReceived();
    }

    private boolean isReadable() {
        return Readiness.of(node.readiness()).isReadable();
    }
}
