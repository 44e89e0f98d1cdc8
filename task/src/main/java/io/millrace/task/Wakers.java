package io.millrace.task;

/** Constants that an interface would have to publish. */
final class Wakers {
    static final Waker NONE = () -> {};

    private Wakers() {}
}
