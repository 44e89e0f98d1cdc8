import org.jspecify.annotations.NullMarked;

/** Conformance suites for backends and event managers, and the small things that tests of event-driven code need. */
@NullMarked
module io.millrace.testkit {
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
