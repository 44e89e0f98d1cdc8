package io.millrace.console;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON. Every text is escaped so that it can neither end its string nor, in a page, a script: peers choose some of
 * these texts.
 */
final class Json {
    private final StringBuilder text = new StringBuilder(1024);
    /** Whether a comma goes before the next value. */
    private boolean more;

    Json object(Consumer<Json> body) {
        return nested('{', '}', body);
    }

    Json array(Consumer<Json> body) {
        return nested('[', ']', body);
    }

    private Json nested(char open, char close, Consumer<Json> body) {
        comma();
        text.append(open);
        more = false;
        body.accept(this);
        text.append(close);
        more = true;
        return this;
    }

    private void comma() {
        if (more) {
            text.append(',');
        }
        more = true;
    }

    /** Begins a member of an object; its value must follow. */
    Json key(String name) {
        comma();
        quote(name);
        text.append(':');
        more = false;
        return this;
    }

    Json put(String name, @Nullable String value) {
        key(name);
        return value(value);
    }

    Json put(String name, long value) {
        key(name).comma();
        text.append(value);
        return this;
    }

    Json put(String name, boolean value) {
        key(name).comma();
        text.append(value);
        return this;
    }

    /** A duration, in nanoseconds. */
    Json put(String name, Duration value) {
        return put(name, value.toNanos());
    }

    Json value(@Nullable String value) {
        comma();
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    Json value(long value) {
        comma();
        text.append(value);
        return this;
    }

    private void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                default -> {
                    if (c < 0x20 || c > 0x7e || c == '<' || c == '>' || c == '&') {
                        text.append("\\u")
                                .append(Character.forDigit(c >> 12, 16))
                                .append(Character.forDigit((c >> 8) & 15, 16))
                                .append(Character.forDigit((c >> 4) & 15, 16))
                                .append(Character.forDigit(c & 15, 16));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
