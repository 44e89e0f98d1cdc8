package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Judges what a server has answered to some requests, from the first byte to the last. */
final class Answers {
    private static final Pattern STATUS_LINE = Pattern.compile("HTTP/1\\.1 (\\d{3}) [A-Z][A-Za-z ]+");
    private static final Pattern FIELD = Pattern.compile("([A-Za-z-]+): ([ -~]*)");
    private static final Pattern PART = Pattern.compile("bytes (\\d+)-(\\d+)/(\\d+)");
    private static final Set<Integer> OF_SERVED = Set.of(200, 204, 206, 301, 304, 412, 416);
    private static final Set<Integer> LAST = Set.of(400, 405, 413, 414, 431, 501, 505);

    private final List<byte[]> served;
    private final Set<Integer> statuses = new TreeSet<>();

    /**
     * Creates a judge.
     *
     * @param served all that may be the body of a file or a list
     */
    Answers(List<byte[]> served) {
        this.served = served;
    }

    Set<Integer> statuses() {
        return statuses;
    }

    void check(Heads heads, byte[] got) {
        int at = 0;
        for (String head : heads.all()) {
            int end = endOfHead(got, at);
            assertThat(end).as("an answer to: " + head).isPositive();
            String[] lines = new String(got, at, end - at, ISO_8859_1).split("\r\n", -1);
            Matcher status = STATUS_LINE.matcher(lines[0]);
            assertThat(status.matches()).as(lines[0]).isTrue();
            int code = Integer.parseInt(status.group(1));
            statuses.add(code);
            Map<String, String> fields = fields(lines);
            assertThat(fields).containsKey("date");
            boolean empty = Heads.isHead(head) || code == 204 || code == 304;
            assertThat(fields.containsKey("content-length"))
                    .as("a length, with status " + code)
                    .isEqualTo(code != 204 && code != 304);
            int length = empty ? 0 : Integer.parseInt(fields.get("content-length"));
            assertThat(got.length - end).as("the body").isGreaterThanOrEqualTo(length);
            checkBody(code, fields, Arrays.copyOfRange(got, end, end + length), empty);
            if (Heads.isAmbiguous(head)) {
                assertThat(code).as(head).isIn(LAST);
            }
            at = end + length;
            boolean last = "close".equals(fields.get("connection"));
            assertThat(last || !LAST.contains(code)).as("the last: " + code).isTrue();
            if (last) {
                assertThat(got.length).as("nothing behind the last answer").isEqualTo(at);
                return;
            }
            if (head.startsWith("GET /hello.txt?last HTTP/1.1\r\nHost: a\r\n\r\n")) {
                assertThat(code).as("the good one").isEqualTo(200);
            }
        }
        assertThat(got.length).as("no answer without a request").isEqualTo(at);
    }

    private static int endOfHead(byte[] got, int from) {
        for (int i = from; i + 3 < got.length; i++) {
            if (got[i] == '\r' && got[i + 1] == '\n' && got[i + 2] == '\r' && got[i + 3] == '\n') {
                return i + 4;
            }
        }
        return -1;
    }

    private static Map<String, String> fields(String[] lines) {
        Map<String, String> fields = new HashMap<>();
        for (int i = 1; i < lines.length - 2; i++) {
            Matcher field = FIELD.matcher(lines[i]);
            assertThat(field.matches()).as(lines[i]).isTrue();
            assertThat(fields.put(field.group(1).toLowerCase(Locale.ROOT), field.group(2)))
                    .as("twice: " + lines[i])
                    .isNull();
        }
        return fields;
    }

    private void checkBody(int code, Map<String, String> fields, byte[] body, boolean empty) {
        if (!OF_SERVED.contains(code)) {
            assertThat(code).isIn(400, 404, 405, 413, 414, 431, 501, 505);
            assertThat(empty || new String(body, ISO_8859_1).startsWith(code + " "))
                    .isTrue();
        } else if (code == 200 && empty) {
            int length = Integer.parseInt(fields.get("content-length"));
            assertThat(served).anyMatch(each -> each.length == length);
        } else if (code == 200) {
            assertThat(served).anyMatch(each -> Arrays.equals(each, body));
        } else if (code == 206) {
            Matcher part = PART.matcher(fields.get("content-range"));
            assertThat(part.matches()).isTrue();
            int from = Integer.parseInt(part.group(1));
            int to = Integer.parseInt(part.group(2)) + 1;
            int size = Integer.parseInt(part.group(3));
            assertThat(served)
                    .anyMatch(each -> each.length == size && Arrays.equals(Arrays.copyOfRange(each, from, to), body));
        } else {
            assertThat(body).isEmpty();
        }
    }
}
