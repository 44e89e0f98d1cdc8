package io.millrace.poll;

import io.millrace.lincheck.Race;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** {@link Channel#take} against a sender, the end of the last sender and a close. A receiver that waits for ever is a deadlock, which the checker finds. */
@DisplayName("vt-4 the handshake between a receiver that waits and those that send")
class ChannelWaitLincheckTest {
    private static final int INTERLEAVINGS = 500;

    private abstract static class ChannelRace extends Race {
        final Channel<String> channel = Channel.over(new ConcurrentLinkedQueue<>());
        final Sender<String> sender = channel.sender();
        volatile @Nullable String got = "nothing yet";

        @Override
        protected void longer() {
            try {
                got = channel.take();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    @DisplayName("vt-4 a message that is sent while the receiver is about to wait wakes it")
    void messageAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new ChannelRace() {
            @Override
            protected void shorter() {
                channel.send("message");
            }

            @Override
            protected void afterwards() {
                expect("message".equals(got), "got " + got);
            }
        });
    }

    @Test
    @DisplayName("vt-4 the end of the last sender wakes the receiver, after its last message")
    void endAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new ChannelRace() {
            @Override
            protected void shorter() {
                sender.close();
            }

            @Override
            protected void afterwards() {
                expect(got == null, "got " + got);
            }
        });
    }

    @Test
    @DisplayName("vt-4 a close of the channel wakes the receiver")
    void closeAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new ChannelRace() {
            @Override
            protected void shorter() {
                channel.close();
            }

            @Override
            protected void afterwards() {
                expect(got == null, "got " + got);
            }
        });
    }
}
