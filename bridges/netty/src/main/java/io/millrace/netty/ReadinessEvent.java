package io.millrace.netty;

import io.netty.channel.IoEvent;

/**
 * The readiness of a socket. Each registration has one and fills it for each event, so that events allocate nothing;
 * it is valid during the call that it is passed to.
 */
final class ReadinessEvent implements IoEvent {
    /** As {@link io.millrace.sys.Bits}. */
    int bits;

    @Override
    public String toString() {
        return "readiness " + bits;
    }
}
