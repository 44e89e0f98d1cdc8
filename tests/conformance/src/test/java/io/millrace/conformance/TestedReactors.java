package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.net.Net;
import io.millrace.poll.Clock;
import java.time.InstantSource;

/**
 * The library's own manager as the suites need to know it.
 *
 * @param backend its name
 * @param reactors how many
 */
record TestedReactors(String backend, int reactors) {
    Reactors open() {
        return checked(builder());
    }

    Reactors open(Clock clock, InstantSource wallClock) {
        return checked(builder().clock(clock).wallClock(wallClock));
    }

    private Reactors.Builder builder() {
        return Reactors.builder()
                .reactors(reactors)
                .backend(backend)
                .daemon(true)
                .name("tested");
    }

    /** The one place that looks whether a test runs on what it claims to. */
    private Reactors checked(Reactors.Builder builder) {
        Reactors opened = builder.open();
        assertThat(opened.report().chosen()).isEqualTo(backend);
        return opened;
    }

    boolean isStrict() {
        return reactors == 1;
    }

    boolean isNative() {
        return !backend.equals("nio");
    }

    Net net() {
        return isNative() ? Net.natively() : Net.nio();
    }
}
