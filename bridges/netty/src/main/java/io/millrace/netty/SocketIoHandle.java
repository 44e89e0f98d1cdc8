package io.millrace.netty;

import io.millrace.poll.Source;
import io.netty.channel.IoHandle;

/** What a Millrace loop can watch for Netty: a socket of one of the channels here. */
@SuppressWarnings("try") // Netty declares close() so
interface SocketIoHandle extends IoHandle {
    /** Returns the socket as a source. */
    Source source();

    /** Returns whether the socket is open; closing it ends its registration. */
    boolean isSocketOpen();
}
