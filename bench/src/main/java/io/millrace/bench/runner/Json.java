package io.millrace.bench.runner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as maps, lists, strings, numbers (read as doubles), booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** A value and nothing after it. */
    static @Nullable Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.blanks();
        if (json.at < text.length()) {
            throw json.unexpected();
        }
        return value;
    }

    /** An object. */
    @SuppressWarnings("unchecked") // keys are strings, whatever the values are
    static Map<String, Object> readObject(String text) {
        if (read(text) instanceof Map<?, ?> object) {
            return (Map<String, Object>) object;
        }
        throw new IllegalArgumentException("no JSON object: " + text);
    }

    private @Nullable Object value() {
        blanks();
        char c = peek();
        switch (c) {
            case '{' -> {
                return object();
            }
            case '[' -> {
                return array();
            }
            case '"' -> {
                return string();
            }
            default -> {
                return word();
            }
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        while (more('}', object.isEmpty())) {
            blanks();
            String key = string();
            blanks();
            expect(':');
            object.put(key, value());
        }
        return object;
    }

    private List<Object> array() {
        List<Object> array = new ArrayList<>();
        at++;
        while (more(']', array.isEmpty())) {
            array.add(value());
        }
        return array;
    }

    /** Whether another element comes; takes the comma before it, or the end. */
    private boolean more(char end, boolean first) {
        blanks();
        if (peek() == end) {
            at++;
            return false;
        }
        if (!first) {
            expect(',');
        }
        return true;
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        for (char c = take(); c != '"'; c = take()) {
            string.append(c == '\\' ? escaped() : c);
        }
        return string.toString();
    }

    private char escaped() {
        char c = take();
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw unexpected();
                }
                at += 4;
                yield (char) Integer.parseInt(text, at - 4, at, 16);
            }
            default -> c;
        };
    }

    private @Nullable Object word() {
        int begin = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(begin, at);
        return switch (word) {
            case "true" -> true;
            case "false" -> false;
            case "null" -> null;
            default -> {
                try {
                    yield Double.valueOf(word);
                } catch (NumberFormatException e) {
                    at = begin;
                    throw unexpected();
                }
            }
        };
    }

    private void blanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private char peek() {
        if (at == text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private char take() {
        char c = peek();
        at++;
        return c;
    }

    private void expect(char c) {
        if (peek() != c) {
            throw unexpected();
        }
        at++;
    }

    private IllegalArgumentException unexpected() {
        String what = at == text.length() ? "the end" : "'" + text.charAt(at) + "'";
        return new IllegalArgumentException("no JSON: " + what + " at " + at + " of " + text);
    }

    /** With an element a line; what is inside the last level of objects and lists of numbers stays on one. */
    static String write(@Nullable Object value) {
        StringBuilder json = new StringBuilder();
        write(json, value, "\n");
        return json.append('\n').toString();
    }

    private static void write(StringBuilder json, @Nullable Object value, String newLine) {
        switch (value) {
            case Map<?, ?> map -> {
                List<String> parts = new ArrayList<>();
                boolean flat = map.values().stream().noneMatch(Json::isComposite);
                map.forEach((key, each) -> parts.add(quoted(String.valueOf(key)) + ": " + part(each, newLine)));
                join(json, '{', parts, '}', flat, newLine);
            }
            case Iterable<?> list -> {
                List<String> parts = new ArrayList<>();
                boolean flat = true;
                for (Object each : list) {
                    flat &= !isComposite(each);
                    parts.add(part(each, newLine));
                }
                join(json, '[', parts, ']', flat, newLine);
            }
            case Double number -> json.append(number(number));
            case Number number -> json.append(number);
            case Boolean bool -> json.append(bool);
            case null -> json.append("null");
            default -> json.append(quoted(value.toString()));
        }
    }

    private static String part(@Nullable Object value, String newLine) {
        StringBuilder part = new StringBuilder();
        write(part, value, newLine + "  ");
        return part.toString();
    }

    private static boolean isComposite(@Nullable Object value) {
        return value instanceof Map || value instanceof Iterable;
    }

    private static void join(
            StringBuilder json, char open, List<String> parts, char close, boolean flat, String newLine) {
        String between = flat ? " " : newLine + "  ";
        json.append(open);
        json.append(flat || parts.isEmpty() ? "" : between);
        json.append(String.join("," + between, parts));
        json.append(flat || parts.isEmpty() ? "" : newLine);
        json.append(close);
    }

    /** Six digits say more than any of these measurements. */
    private static String number(double number) {
        if (!Double.isFinite(number)) {
            return "null";
        }
        if (number == Math.rint(number) && Math.abs(number) < 1e15) {
            return Long.toString((long) number);
        }
        return new java.math.BigDecimal(number)
                .round(new java.math.MathContext(6))
                .stripTrailingZeros()
                .toPlainString();
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> quoted.append('\\').append(c);
                case '\n' -> quoted.append("\\n");
                case '\t' -> quoted.append("\\t");
                default -> {
                    if (c < ' ') {
                        quoted.append(String.format("\\u%04x", (int) c));
                    } else {
                        quoted.append(c);
                    }
                }
            }
        }
        return quoted.append('"').toString();
    }
}
