package io.millrace.testkit;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A real Redis server on a free port of the loopback interface, with a folder of its own; ended by kill -9. */
public final class RedisProcess implements AutoCloseable {
    private final ServerProcess server;

    /**
     * Starts one. Where Redis is not installed, the test is skipped and says so; or fails, if MILLRACE_REQUIRE_TOOLS is set.
     *
     * @param settings more of its options, such as {@code --maxmemory}, and their values
     * @throws IOException if it does not start
     */
    public RedisProcess(String... settings) throws IOException {
        server = new ServerProcess(
                "redis-server",
                (port, folder) -> Stream.concat(
                                Stream.of(
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
                                Stream.of(settings))
                        .toList(),
                socket -> ServerProcess.firstByte(socket, "PING\r\n") == '+');
    }

    /**
     * Returns its port.
     *
     * @return on the loopback interface
     */
    public int port() {
        return server.port();
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
        answer(words);
    }

    /**
     * Sends one command whose answer is a number.
     *
     * @param words the command and its arguments, in ASCII
     * @return the number
     * @throws IOException if the answer is an error
     */
    public long number(String... words) throws IOException {
        return Long.parseLong(answer(words));
    }

    /**
     * Returns how often a command was called since {@code CONFIG RESETSTAT}.
     *
     * @param command in lower case
     * @return the count
     * @throws IOException if the answer is an error
     */
    public long calls(String command) throws IOException {
        Matcher calls = Pattern.compile("cmdstat_" + Pattern.quote(command) + ":calls=(\\d+)")
                .matcher(answer("INFO", "commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    /** The first line of the answer, without what says of which kind it is; the whole text if it is a text. */
    private String answer(String... words) throws IOException {
        StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        try (Socket socket = server.connect()) {
            int kind = ServerProcess.firstByte(socket, text.toString());
            BufferedReader rest =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            String line = String.valueOf(rest.readLine());
            if (kind == '-') {
                throw new IOException(line);
            }
            if (kind != '$' || line.equals("-1")) {
                return line;
            }
            char[] whole = new char[Integer.parseInt(line)];
            for (int at = 0; at < whole.length; ) {
                int read = rest.read(whole, at, whole.length - at);
                if (read < 0) {
                    throw new EOFException("in the middle of an answer");
                }
                at += read;
            }
            return new String(whole);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
