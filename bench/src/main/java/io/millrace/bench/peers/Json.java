package io.millrace.bench.peers;

import java.util.Locale;
import java.util.StringJoiner;

/** One flat JSON object, as the load generators print it. Texts need no escapes here, so there are none. */
final class Json {
    private final StringJoiner members = new StringJoiner(",", "{", "}");

    Json add(String name, String text) {
        members.add("\"" + name + "\":\"" + text + "\"");
        return this;
    }

    Json add(String name, long number) {
        members.add("\"" + name + "\":" + number);
        return this;
    }

    /** NaN, which JSON has not, becomes null. */
    Json add(String name, double number) {
        members.add("\"" + name + "\":" + (Double.isNaN(number) ? "null" : String.format(Locale.ROOT, "%.3f", number)));
        return this;
    }

    @Override
    public String toString() {
        return members.toString();
    }
}
