package io.millrace.server;

/** The kinds of silence of a connection: see {@link ConnectionHandler#onIdle}. */
public enum Idle {
    /** Nothing was received or sent. */
    BOTH,
    /** Nothing was received, regardless of what was sent. */
    READ,
    /** Nothing was sent, regardless of what was received. */
    WRITE
}
