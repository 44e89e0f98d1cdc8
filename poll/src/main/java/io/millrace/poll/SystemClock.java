package io.millrace.poll;

/** {@link System#nanoTime()}. */
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
