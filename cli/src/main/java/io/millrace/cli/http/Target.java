package io.millrace.cli.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a request asks for, as the names on the way from the directory. A name is never {@code .} or {@code ..}, has no
 * separator and no control character, and does not begin with a dot: whatever leads elsewhere, or to what is hidden, does
 * not exist.
 *
 * @param names decoded
 * @param isDirectory whether the path ends with a slash
 */
record Target(List<String> names, boolean isDirectory) {
    /** Stands in the names of files for bytes that are no text. */
    private static final char UNDECODED = '\ufffd';

    /**
     * Reads a target: a path, or a whole URI, whose host is ignored.
     *
     * @throws HttpException if it is malformed, or cannot be there
     */
    static Target parse(String text) throws HttpException {
        String path = text;
        if (!path.startsWith("/")) {
            String lower = path.toLowerCase(Locale.ROOT);
            if (!lower.startsWith("http://") && !lower.startsWith("https://")) {
                throw new HttpException(Status.BAD_REQUEST, "the target is neither a path nor a URI");
            }
            path = pathOf(path);
        }
        if (path.indexOf('#') >= 0) {
            throw new HttpException(Status.BAD_REQUEST, "a target has no fragment");
        }
        int query = path.indexOf('?');
        path = query < 0 ? path : path.substring(0, query);
        List<String> names = new ArrayList<>();
        for (String encoded : path.split("/", -1)) {
            String name = decode(encoded);
            if (name.isEmpty()) {
                continue; // several slashes are one
            }
            if (!isServed(name)) {
                throw new HttpException(Status.NOT_FOUND, "there is no such file");
            }
            names.add(name);
        }
        return new Target(List.copyOf(names), path.endsWith("/"));
    }

    /** Returns the path and query of a URI. Its host ends where either begins: RFC 9112, section 3.2.2. */
    private static String pathOf(String uri) throws HttpException {
        int from = uri.indexOf("//") + 2;
        int end = from;
        while (end < uri.length() && "/?#".indexOf(uri.charAt(end)) < 0) {
            end++;
        }
        if (end == from) {
            throw new HttpException(Status.BAD_REQUEST, "the target has no host");
        }
        String path = uri.substring(end);
        return path.startsWith("/") ? path : "/" + path;
    }

    /** Returns whether a file of this name can be asked for. */
    static boolean isServed(String name) {
        return !name.startsWith(".")
                && name.chars().allMatch(c -> c >= ' ' && c != 0x7f && c != '/' && c != '\\' && c != UNDECODED);
    }

    private static String decode(String text) throws HttpException {
        ByteBuffer bytes = ByteBuffer.allocate(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                boolean whole = i + 2 < text.length();
                int high = whole ? Character.digit(text.charAt(i + 1), 16) : -1;
                int low = whole ? Character.digit(text.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    throw new HttpException(Status.BAD_REQUEST, "the target is not encoded properly");
                }
                c = (char) (high * 16 + low);
                i += 2;
            }
            if (c < ' ' || c == 0x7f) {
                throw new HttpException(Status.BAD_REQUEST, "the target has a control character");
            }
            bytes.put((byte) c);
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw new HttpException(Status.BAD_REQUEST, "the target is not UTF-8");
        }
    }

    /** Returns the path that leads here, encoded, without a slash at its end. */
    String encoded() {
        StringBuilder path = new StringBuilder();
        names.forEach(name -> path.append('/').append(encode(name)));
        return path.toString();
    }

    static String encode(String name) {
        StringBuilder text = new StringBuilder();
        for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
            int c = each & 0xff;
            boolean plain = (c >= '0' && c <= '9')
                    || (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || "-._~".indexOf(c) >= 0;
            if (plain) {
                text.append((char) c);
            } else {
                text.append('%').append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            }
        }
        return text.toString();
    }
}
