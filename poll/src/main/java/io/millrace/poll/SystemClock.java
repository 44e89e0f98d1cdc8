package io.millrace.poll;

/** The clock of {@link System#nanoTime()}. */
enum SystemClock implements Clock {
    INSTANCE;

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public String toString() {
        return "system clock";
    }
}
