package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.net.FileSource;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves the files of a directory over HTTP/1.1: see docs/http.md. It has no state for a connection: the framing keeps
 * what has come of the next head, and the connection what waits to be sent. Requests that come before their answers are
 * answered in order; while too much waits to be sent, no further one is looked at.
 */
public final class HttpHandler implements ConnectionHandler {
    /** How long a head may be. */
    static final int MAX_HEAD = 16 << 10;

    private static final String CRLF = "\r\n";
    private static final ByteBuffer HEAD =
            ByteBuffer.wrap("HEAD ".getBytes(UTF_8)).asReadOnlyBuffer();

    private final Site site;

    private final BooleanSupplier draining;

    private HttpHandler(Site site, BooleanSupplier draining) {
        this.site = site;
        this.draining = draining;
    }

    /**
     * Makes the handler.
     *
     * @param directory whose files are served
     * @param headLimit how long a client may take for the head of a request
     * @param draining whether clients should send their next request on another connection, because this process is to end
     * @return a handler for all connections
     * @throws IOException if there is no such directory
     */
    public static ConnectionHandler serving(Path directory, Duration headLimit, BooleanSupplier draining)
            throws IOException {
        return new HeadFraming(MAX_HEAD, headLimit).frames(new HttpHandler(new Site(directory), draining));
    }

    @Override
    public void onData(Connection connection, ByteBuffer head) {
        if (head.remaining() == 2 && head.get(head.position()) == '\r') {
            return; // an empty line before a request: RFC 9112, section 2.2
        }
        boolean isHead = HEAD.equals(head.slice(head.position(), Math.min(head.remaining(), HEAD.limit())));
        boolean old = false;
        boolean alive = false;
        try {
            Request request = Request.parse(head, MAX_HEAD);
            if (draining.getAsBoolean()) {
                request.makeLast();
            }
            old = request.isOld();
            alive = request.keepsAlive();
            answer(connection, request);
        } catch (HttpException e) {
            alive &= !e.status().closes;
            refuse(connection, e, isHead, alive, old);
        } catch (IOException e) {
            alive = false;
            refuse(connection, new HttpException(Status.UNAVAILABLE, "it cannot be read now"), isHead, false, old);
            ConnectionHandler.super.onError(connection, e);
        }
        if (!alive) {
            connection.close();
        }
    }

    private void answer(Connection connection, Request request) throws HttpException, IOException {
        switch (request.method()) {
            case "GET", "HEAD" -> {
                // Served below.
            }
            case "OPTIONS" -> {
                send(connection, head(Status.NO_CONTENT, request).append("Allow: GET, HEAD, OPTIONS\r\n"), null);
                return;
            }
            default -> throw new HttpException(Status.METHOD_NOT_ALLOWED, "files can be read only");
        }
        Site.Resource recent = site.recent(request.target());
        Object found = recent != null ? recent : site.find(Target.parse(request.target()), request.target());
        if (found instanceof Site.Listing listing) {
            list(connection, request, listing);
            return;
        }
        Site.Resource file = (Site.Resource) found;
        FileSource open = file.file();
        boolean sent = false;
        try {
            sent = serve(connection, request, file);
        } finally {
            if (open != null && !sent) {
                open.close();
            }
        }
    }

    /** Returns whether a file that is open was handed to the connection. */
    private static boolean serve(Connection connection, Request request, Site.Resource file) throws HttpException {
        Status status = Preconditions.check(request, file.tag(), file.modifiedSecond());
        ByteRange range = null;
        if (status == Status.OK
                && !request.isHead()
                && Preconditions.allowsRange(request, file.tag(), file.modifiedSecond())) {
            try {
                range = ByteRange.parse(request.value("range"), file.size());
            } catch (HttpException e) {
                send(
                        connection,
                        head(e.status(), request)
                                .append("Content-Range: bytes */")
                                .append(file.size())
                                .append("\r\nContent-Length: 0\r\n"),
                        null);
                return false;
            }
        }
        StringBuilder head = head(range == null ? status : Status.PARTIAL_CONTENT, request);
        head.append("Last-Modified: ").append(HttpDates.format(file.modifiedSecond()));
        head.append("\r\nETag: ").append(file.tag()).append("\r\nAccept-Ranges: bytes\r\n");
        if (status == Status.PRECONDITION_FAILED) {
            send(connection, head.append("Content-Length: 0\r\n"), null);
            return false;
        }
        if (status == Status.NOT_MODIFIED) {
            send(connection, head, null);
            return false;
        }
        ByteRange part = range == null ? new ByteRange(0, file.size()) : range;
        if (range != null) {
            head.append("Content-Range: bytes ").append(part.from()).append('-');
            head.append(part.from() + part.count() - 1)
                    .append('/')
                    .append(file.size())
                    .append(CRLF);
        }
        head.append("Content-Type: ").append(file.type());
        head.append("\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ")
                .append(part.count())
                .append(CRLF);
        ByteBuffer content = file.content();
        FileSource open = file.file();
        if (request.isHead()) {
            send(connection, head, null);
            return false;
        }
        if (content != null) {
            send(connection, head, content.slice((int) part.from(), (int) part.count()));
            return false;
        }
        send(connection, head, null);
        try {
            connection.sendFile(Objects.requireNonNull(open), part.from(), part.count());
        } catch (IOException e) {
            connection.abort(); // the head has promised the bytes, and they have gone meanwhile
        }
        return true;
    }

    private static void list(Connection connection, Request request, Site.Listing listing) {
        StringBuilder page = new StringBuilder("<!doctype html><meta charset=utf-8><title>Index</title><ul>\n");
        for (String name : listing.names()) {
            boolean directory = name.endsWith("/");
            String plain = directory ? name.substring(0, name.length() - 1) : name;
            page.append("<li><a href=\"./").append(Target.encode(plain)).append(directory ? "/" : "");
            page.append("\">").append(escape(name)).append("</a>\n");
        }
        page.append(listing.isComplete() ? "</ul>\n" : "</ul>\n<p>… and more\n");
        body(connection, head(Status.OK, request), page.toString(), "text/html", request.isHead());
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static void refuse(Connection connection, HttpException why, boolean isHead, boolean alive, boolean old) {
        StringBuilder head = head(why.status(), alive, old);
        if (why.status() == Status.MOVED_PERMANENTLY) {
            send(
                    connection,
                    head.append("Location: ").append(why.getMessage()).append("\r\nContent-Length: 0\r\n"),
                    null);
            return;
        }
        if (why.status() == Status.METHOD_NOT_ALLOWED) {
            head.append("Allow: GET, HEAD, OPTIONS\r\n");
        }
        String text = why.status().code + " " + why.status().reason + ": " + why.getMessage() + "\n";
        body(connection, head, text, "text/plain", isHead);
    }

    private static void body(Connection connection, StringBuilder head, String text, String type, boolean isHead) {
        byte[] bytes = text.getBytes(UTF_8);
        head.append("Content-Type: ").append(type).append("; charset=utf-8\r\nContent-Length: ");
        send(connection, head.append(bytes.length).append(CRLF), isHead ? null : ByteBuffer.wrap(bytes));
    }

    private static StringBuilder head(Status status, Request request) {
        return head(status, request.keepsAlive() && !status.closes, request.isOld());
    }

    private static StringBuilder head(Status status, boolean alive, boolean old) {
        StringBuilder head = new StringBuilder(320);
        head.append("HTTP/1.1 ").append(status.code).append(' ').append(status.reason);
        head.append("\r\nDate: ").append(HttpDates.now()).append(CRLF);
        if (!alive) {
            head.append("Connection: close\r\n");
        } else if (old) {
            head.append("Connection: keep-alive\r\n");
        }
        return head;
    }

    private static void send(Connection connection, StringBuilder head, @Nullable ByteBuffer body) {
        byte[] bytes = head.append(CRLF).toString().getBytes(StandardCharsets.ISO_8859_1);
        connection.send(ByteBuffer.wrap(bytes));
        if (body != null) {
            connection.send(body);
        }
    }

    /** What clients do is no failure of ours: they are cut off, and that is all. */
    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        boolean theirs = failure instanceof ProtocolException
                || failure instanceof SocketTimeoutException
                || (connection != null && failure instanceof IOException);
        if (!theirs) {
            ConnectionHandler.super.onError(connection, failure);
        }
    }

    @Override
    public String toString() {
        return "http";
    }
}
