package io.millrace.conformance;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import java.time.InstantSource;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** The managers on which servers and clients are tested: the library's own on each backend, and two that are not. */
enum Managers {
    EPOLL,
    POLL,
    NIO,
    FOREIGN,
    /** Not the library's either, and without readiness. */
    COMPLETION;

    EventManager open(Clock clock) {
        return switch (this) {
            case EPOLL, POLL, NIO -> reactors(clock).open();
            case FOREIGN -> new ThreadyManager(clock, InstantSource.system());
            case COMPLETION -> new CompletionOnlyManager(clock, InstantSource.system());
        };
    }

    /** Of one that is not the library's. */
    static int pendingAlarms(EventManager manager) {
        return manager instanceof ThreadyManager thready
                ? thready.pendingAlarms()
                : ((CompletionOnlyManager) manager).pendingAlarms();
    }

    EventManager open() {
        return open(Clock.system());
    }

    /** Of the library's own. */
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

    static Stream<Managers> foreign() {
        return Stream.of(FOREIGN, COMPLETION);
    }

    static Stream<Arguments> withDispatch() {
        return Stream.of(values())
                .flatMap(manager -> Stream.of(Dispatch.values()).map(mode -> Arguments.of(manager, mode)));
    }

    static Stream<Arguments> oursWithDispatch() {
        return ours().flatMap(manager -> Stream.of(Dispatch.values()).map(mode -> Arguments.of(manager, mode)));
    }
}
