package io.millrace.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A real Redis server on a free port of the loopback interface, with a folder of its own; ended by kill -9. */
public final class RedisProcess implements AutoCloseable {
    private final ServerProcess server;

    /**
     * Starts one. Where Redis is not installed, the test is skipped and says so; or fails, if MILLRACE_REQUIRE_TOOLS is set.
     *
     * @throws IOException if it does not start
     */
    public RedisProcess() throws IOException {
        server = new ServerProcess(
                "redis-server",
                (port, folder) -> List.of(
                        "--port",
                        Integer.toString(port),
                        "--bind",
                        "127.0.0.1",
                        "--dir",
                        folder.toString(),
                        "--save",
                        "",
                        "--appendonly",
                        "yes",
                        "--stream-node-max-entries",
                        "10", // so that MAXLEN ~ trims soon
                        "--loglevel",
                        "warning"),
                socket -> ServerProcess.firstByte(socket, "PING\r\n") == '+');
    }

    /**
     * Returns where it is.
     *
     * @return for a backplane
     */
    public String url() {
        return "redis://127.0.0.1:" + server.port();
    }

    /**
     * Starts it again. Every write reaches the file before its reply, so a kill loses nothing that was acknowledged.
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
     * Sends one command, on a connection of its own.
     *
     * @param words the command and its arguments, in ASCII
     * @throws IOException if the answer is an error
     */
    public void command(String... words) throws IOException {
        StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        try (Socket socket = server.connect()) {
            if (ServerProcess.firstByte(socket, text.toString()) == '-') {
                BufferedReader rest =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                throw new IOException(rest.readLine());
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
