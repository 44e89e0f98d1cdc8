package io.millrace.backplane;

import java.util.concurrent.atomic.AtomicBoolean;

/** Somebody's presence in a topic, until it is closed or its node ends. Any thread may close it. */
public final class Presence implements AutoCloseable {
    private final Membership membership;
    private final String topic;
    private final String name;
    private final AtomicBoolean left = new AtomicBoolean();

    Presence(Membership membership, String topic, String name) {
        this.membership = membership;
        this.topic = topic;
        this.name = name;
    }

    /** Leaves the topic. Idempotent. */
    @Override
    public void close() {
        if (left.compareAndSet(false, true)) {
            membership.leave(topic, name);
        }
    }

    @Override
    public String toString() {
        return name + " in " + topic;
    }
}
