package io.millrace.server.connection;

/** A call to a handler, which may throw anything: see {@link ConnectionCalls#call}. */
interface HandlerCall {
    void run() throws Exception;
}
