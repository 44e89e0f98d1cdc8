package io.millrace.testkit;

import java.io.IOException;
import java.util.List;

/** A real NATS server with JetStream on a free port of the loopback interface, with a folder of its own; ended by kill -9. */
public final class NatsProcess implements AutoCloseable {
    private final ServerProcess server;

    /**
     * Starts one. Where NATS is not installed, the test is skipped and says so; or fails, if MILLRACE_REQUIRE_TOOLS is set.
     *
     * @throws IOException if it does not start
     */
    public NatsProcess() throws IOException {
        server = new ServerProcess(
                "nats-server",
                (port, folder) ->
                        List.of("-a", "127.0.0.1", "-p", Integer.toString(port), "-js", "-sd", folder.toString()),
                socket -> ServerProcess.firstByte(socket, "PING\r\n") == 'I'); // INFO
    }

    /**
     * Returns where it is.
     *
     * @return for a backplane
     */
    public String url() {
        return "nats://127.0.0.1:" + server.port();
    }

    /**
     * Starts it again. What was acknowledged is with the system, so a kill loses nothing of it.
     *
     * @throws IOException if it does not start
     */
    public void start() throws IOException {
        server.start();
    }

    /** Ends it at once, and leaves its files. */
    public void kill() {
        server.kill();
    }

    /**
     * Deletes its files.
     *
     * @throws IOException if that fails
     */
    public void forget() throws IOException {
        server.forget();
    }

    /**
     * Returns its port.
     *
     * @return on the loopback interface
     */
    public int port() {
        return server.port();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
