package io.millrace.task;

/** Constants that would be public in an interface. */
final class Wakers {
    static final Waker NONE = () -> {};

    private Wakers() {}
}
