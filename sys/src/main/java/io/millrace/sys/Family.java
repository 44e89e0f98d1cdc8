package io.millrace.sys;

/** The two kinds of handles; a selector takes one of them. */
public enum Family {
    /** File descriptors: epoll, poll(2), kqueue. */
    DESCRIPTOR,
    /** {@code java.nio} channels. */
    CHANNEL
}
