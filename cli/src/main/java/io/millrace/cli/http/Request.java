package io.millrace.cli.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request. What two servers could understand differently is refused rather than repaired (RFC 9112,
 * section 11): lines without CR, folded lines, blanks before a colon, control characters, a length that is given twice
 * or together with a transfer coding. Requests with a body are refused, too, since no file wants one. So what follows a
 * head is the next head, always.
 */
final class Request {
    private static final int MAX_FIELDS = 100;
    private static final int MAX_TARGET = 8 << 10;
    private static final String SEPARATORS = "!#$%&'*+-.^_`|~";
    private static final String IN_HOSTS = "-._~%!$&'()*+,;=:[]";

    private final String method;
    private final String target;
    private final boolean minorZero;
    private boolean last;
    private final List<String> names = new ArrayList<>();
    private final List<String> values = new ArrayList<>();

    private Request(String method, String target, boolean minorZero) {
        this.method = method;
        this.target = target;
        this.minorZero = minorZero;
    }

    /**
     * Reads a head.
     *
     * @param head with the empty line at its end
     * @param max how long a head may be: one without an empty line is as long
     */
    static Request parse(ByteBuffer head, int max) throws HttpException {
        String text = StandardCharsets.ISO_8859_1.decode(head).toString();
        if (!text.endsWith("\r\n\r\n")) {
            throw text.length() >= max
                    ? text.indexOf('\r') < 0
                            ? new HttpException(Status.URI_TOO_LONG, "the request line is too long")
                            : new HttpException(Status.HEADERS_TOO_LARGE, "the head is too long")
                    : new HttpException(Status.BAD_REQUEST, "a line must end with CR LF");
        }
        int lineEnd = text.indexOf("\r\n");
        Request request = requestLine(text.substring(0, lineEnd));
        int at = lineEnd + 2;
        while (at < text.length() - 2) {
            int end = text.indexOf("\r\n", at);
            request.field(text, at, end);
            at = end + 2;
        }
        request.check();
        return request;
    }

    private static Request requestLine(String line) throws HttpException {
        int first = line.indexOf(' ');
        int last = line.lastIndexOf(' ');
        if (first <= 0 || last == first) {
            throw new HttpException(Status.BAD_REQUEST, "a request line has a method, a target and a version");
        }
        String method = line.substring(0, first);
        String target = line.substring(first + 1, last);
        String version = line.substring(last + 1);
        requireToken(method, "the method");
        if (target.length() > MAX_TARGET) {
            throw new HttpException(Status.URI_TOO_LONG, "the target is too long");
        }
        for (int i = 0; i < target.length(); i++) {
            char c = target.charAt(i);
            if (c <= ' ' || c >= 0x7f) {
                throw new HttpException(Status.BAD_REQUEST, "the target has a character that must be encoded");
            }
        }
        if (target.isEmpty()) {
            throw new HttpException(Status.BAD_REQUEST, "the target is empty");
        }
        boolean minorZero = version.equals("HTTP/1.0");
        if (!minorZero && !version.equals("HTTP/1.1")) {
            throw version.matches("HTTP/\\d\\.\\d")
                    ? new HttpException(Status.VERSION_NOT_SUPPORTED, "this server speaks HTTP/1.1")
                    : new HttpException(Status.BAD_REQUEST, "the version is not understood");
        }
        return new Request(method, target, minorZero);
    }

    private void field(String text, int from, int end) throws HttpException {
        if (text.charAt(from) == ' ' || text.charAt(from) == '\t') {
            throw new HttpException(Status.BAD_REQUEST, "a field must not be folded");
        }
        int colon = text.indexOf(':', from);
        if (colon < 0 || colon >= end) {
            throw new HttpException(Status.BAD_REQUEST, "a field has a name and a colon");
        }
        String name = text.substring(from, colon);
        requireToken(name, "the name of a field");
        for (int i = colon + 1; i < end; i++) {
            char c = text.charAt(i);
            if ((c < ' ' && c != '\t') || c == 0x7f) {
                throw new HttpException(Status.BAD_REQUEST, "a field has a control character");
            }
        }
        if (names.size() == MAX_FIELDS) {
            throw new HttpException(Status.HEADERS_TOO_LARGE, "there are too many fields");
        }
        names.add(name.toLowerCase(Locale.ROOT));
        values.add(text.substring(colon + 1, end).strip());
    }

    private static void requireToken(String text, String what) throws HttpException {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!isAlphanumeric(c) && SEPARATORS.indexOf(c) < 0) {
                throw new HttpException(Status.BAD_REQUEST, what + " has a character that it must not have");
            }
        }
        if (text.isEmpty()) {
            throw new HttpException(Status.BAD_REQUEST, what + " is empty");
        }
    }

    private static boolean isAlphanumeric(int c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    /** Where the request ends must be beyond doubt. */
    private void check() throws HttpException {
        int hosts = count("host");
        if (hosts > 1 || (hosts == 0 && !minorZero)) {
            throw new HttpException(Status.BAD_REQUEST, "a request has one Host field");
        }
        String host = value("host");
        if (host != null && !host.chars().allMatch(c -> isAlphanumeric(c) || IN_HOSTS.indexOf(c) >= 0)) {
            throw new HttpException(Status.BAD_REQUEST, "the Host field has a character that it must not have");
        }
        int lengths = count("content-length");
        if (count("transfer-encoding") > 0) {
            throw lengths > 0 || minorZero
                    ? new HttpException(Status.BAD_REQUEST, "the length of the body is ambiguous")
                    : new HttpException(Status.NOT_IMPLEMENTED, "this server takes no body");
        }
        if (lengths > 1) {
            throw new HttpException(Status.BAD_REQUEST, "the length of the body is given twice");
        }
        String length = value("content-length");
        if (length != null) {
            if (length.isEmpty() || length.chars().anyMatch(c -> c < '0' || c > '9')) {
                throw new HttpException(Status.BAD_REQUEST, "the length of the body is no number");
            }
            if (length.chars().anyMatch(c -> c != '0')) {
                throw new HttpException(Status.CONTENT_TOO_LARGE, "this server takes no body");
            }
        }
    }

    private int count(String name) {
        int count = 0;
        for (String each : names) {
            count += each.equals(name) ? 1 : 0;
        }
        return count;
    }

    String method() {
        return method;
    }

    String target() {
        return target;
    }

    boolean isHead() {
        return method.equals("HEAD");
    }

    /** Returns the value of a field, in lower case; that of several joined as a list; null if there is none. */
    @Nullable
    String value(String name) {
        String found = null;
        for (int i = 0; i < names.size(); i++) {
            if (names.get(i).equals(name)) {
                found = found == null ? values.get(i) : found + ", " + values.get(i);
            }
        }
        return found;
    }

    /** Has the connection closed after the answer, whatever the client asked for. */
    void makeLast() {
        last = true;
    }

    /** Returns whether the connection stays open after the answer. */
    boolean keepsAlive() {
        if (last) {
            return false;
        }
        String options = value("connection");
        if (options == null) {
            return !minorZero;
        }
        boolean wanted = false;
        for (String option : options.split(",", -1)) {
            if (option.strip().equalsIgnoreCase("close")) {
                return false;
            }
            wanted |= option.strip().equalsIgnoreCase("keep-alive");
        }
        return wanted || !minorZero;
    }

    boolean isOld() {
        return minorZero;
    }
}
