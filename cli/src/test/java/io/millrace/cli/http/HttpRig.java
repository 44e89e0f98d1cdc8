package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A server of files in this JVM, and a client that sends exactly what it is told to. */
final class HttpRig implements AutoCloseable {
    /** An answer as it came. */
    record Answer(int status, Map<String, String> fields, byte[] body) {
        String text() {
            return new String(body, ISO_8859_1);
        }

        @Nullable
        String field(String name) {
            return fields.get(name);
        }
    }

    final TcpServer server;
    final AtomicBoolean draining = new AtomicBoolean();

    HttpRig(Path directory) throws IOException {
        this(directory, Duration.ofSeconds(20));
    }

    HttpRig(Path directory, Duration headLimit) throws IOException {
        this.server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).withoutWatchdog())
                .start(HttpHandler.serving(directory, headLimit, draining::get));
    }

    Client connect() throws IOException {
        return new Client(server);
    }

    /** One request on a connection of its own. */
    Answer ask(String request) throws IOException {
        try (Client client = connect()) {
            client.send(request);
            return client.answer(request.startsWith("HEAD"));
        }
    }

    Answer get(String target, String... fields) throws IOException {
        StringBuilder request = new StringBuilder("GET " + target + " HTTP/1.1\r\nHost: a\r\n");
        for (String field : fields) {
            request.append(field).append("\r\n");
        }
        return ask(request + "\r\n");
    }

    @Override
    public void close() {
        server.close();
    }

    static final class Client implements AutoCloseable {
        final Socket socket;
        private final InputStream in;

        Client(TcpServer server) throws IOException {
            this.socket =
                    new Socket(server.address().getAddress(), server.address().getPort());
            socket.setSoTimeout(30_000);
            this.in = new java.io.BufferedInputStream(socket.getInputStream());
        }

        void send(String bytes) throws IOException {
            socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
        }

        private @Nullable String line() throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    if (line.size() == 0) {
                        return null;
                    }
                    throw new EOFException("in " + line);
                }
                line.write(c);
            }
            return line.toString(ISO_8859_1).stripTrailing();
        }

        /** Waits for the next answer; null at the end. */
        @Nullable
        Answer next(boolean isHead) throws IOException {
            String first = line();
            if (first == null) {
                return null;
            }
            if (!first.matches("HTTP/1\\.1 \\d{3} [A-Z][A-Za-z ]+")) {
                throw new IOException("no status line: " + first);
            }
            int status = Integer.parseInt(first.substring(9, 12));
            Map<String, String> fields = new LinkedHashMap<>();
            for (String line = line(); line == null || !line.isEmpty(); line = line()) {
                if (line == null) {
                    throw new EOFException("in a head");
                }
                int colon = line.indexOf(": ");
                if (fields.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 2)) != null) {
                    throw new IOException("twice: " + line);
                }
            }
            boolean empty = isHead || status == 304 || status == 204;
            int length = empty ? 0 : Integer.parseInt(fields.getOrDefault("content-length", "-1"));
            byte[] body = in.readNBytes(length);
            if (body.length < length) {
                throw new EOFException("in a body");
            }
            return new Answer(status, fields, body);
        }

        Answer answer(boolean isHead) throws IOException {
            Answer answer = next(isHead);
            if (answer == null) {
                throw new EOFException("no answer");
            }
            return answer;
        }

        boolean isAtEnd() throws IOException {
            return in.read() < 0;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
