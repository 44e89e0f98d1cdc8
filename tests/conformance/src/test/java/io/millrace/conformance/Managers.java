package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessEventManager;
import io.millrace.poll.Clock;
import java.time.InstantSource;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** The managers on which servers and clients are tested: the library's own on each backend, and one that is not. */
enum Managers {
    EPOLL,
    POLL,
    NIO,
    FOREIGN;

    ReadinessEventManager open(Clock clock) {
        return this == FOREIGN
                ? new ThreadyManager(clock, InstantSource.system())
                : reactors(clock).open();
    }

    ReadinessEventManager open() {
        return open(Clock.system());
    }

    /** Not for {@link #FOREIGN}. */
    Reactors.Builder reactors(Clock clock) {
        return Reactors.builder()
                .backend(name().toLowerCase(java.util.Locale.ROOT))
                .reactors(2)
                .name("tested")
                .daemon(true)
                .withoutWatchdog()
                .clock(clock);
    }

    static Stream<Managers> ours() {
        return Stream.of(EPOLL, POLL, NIO);
    }

    static Stream<Arguments> withDispatch() {
        return Stream.of(values())
                .flatMap(manager -> Stream.of(Dispatch.values()).map(mode -> Arguments.of(manager, mode)));
    }

    static Stream<Arguments> oursWithDispatch() {
        return ours().flatMap(manager -> Stream.of(Dispatch.values()).map(mode -> Arguments.of(manager, mode)));
    }
}
