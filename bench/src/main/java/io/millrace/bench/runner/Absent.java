package io.millrace.bench.runner;

/**
 * A candidate that cannot take part.
 *
 * @param name its name
 * @param reason why not
 */
record Absent(String name, String reason) {
    String text() {
        return "absent: " + name + ": " + reason;
    }
}
