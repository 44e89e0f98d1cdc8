package io.millrace.bench.runner;

/**
 * Somebody who would take part, but cannot.
 *
 * @param name the contestant
 * @param reason why not
 */
record Absent(String name, String reason) {
    String text() {
        return "absent: " + name + ": " + reason;
    }
}
