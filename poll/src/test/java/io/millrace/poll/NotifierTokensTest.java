package io.millrace.poll;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What nobody sees from outside: a table that grows with every handler that ever was. */
@DisplayName("The tokens of a notifier")
class NotifierTokensTest {
    @Test
    @DisplayName("end-7: are used again, whether a handler was deleted or its source closed, with a poll and before")
    void areUsedAgain() {
        for (boolean waits : new boolean[] {false, true}) {
            try (Notifier notifier = Notifier.open(Poll.builder())) {
                if (waits) {
                    notifier.doOneEvent(Duration.ZERO);
                }
                for (int i = 0; i < 10_000; i++) {
                    try (Registration source = new Registration()) {
                        notifier.setHandler(source, Interest.READABLE, kind -> {});
                        if (i % 2 == 0) {
                            notifier.deleteHandler(source);
                        }
                    }
                }
                assertThat(notifier.tokens()).isLessThan(100);
            }
        }
    }
}
