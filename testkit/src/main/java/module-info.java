import org.jspecify.annotations.NullMarked;

/**
 * Conformance suites for backends and event managers, and the small things that tests of event-driven code need.
 *
 * <p>A handler is tested without a socket:
 *
 * {@snippet :
 * try (TestConnection peer = TestConnection.open(settings, GREETER)) {
 *     peer.receive("Ann\nBo");
 *     assertThat(peer.sentText()).isEqualTo("hello Ann\n");
 *     peer.receive("b\n");
 *     assertThat(peer.sentText()).isEqualTo("hello Ann\nhello Bob\n");
 *     peer.advance(Duration.ofMinutes(5));
 *     assertThat(peer.isClosed()).isTrue();
 * }
 * }
 */
@NullMarked
module io.millrace.testkit {
    requires transitive io.millrace.backplane;
    requires transitive io.millrace.engine;
    requires transitive io.millrace.net;
    requires transitive io.millrace.poll;
    requires transitive io.millrace.server;
    requires transitive java.logging;
    requires jdk.management;
    requires transitive org.assertj.core;
    requires static transitive org.jspecify;
    requires transitive org.junit.jupiter.api;

    exports io.millrace.testkit;

    // JUnit calls the suites' test methods, which are package-private.
    opens io.millrace.testkit to
            org.junit.platform.commons;
}
