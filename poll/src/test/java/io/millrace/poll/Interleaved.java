package io.millrace.poll;

/** Two threads for the model checker to interleave. */
final class Interleaved {
    private Interleaved() {}

    static void together(Runnable one, Runnable other) {
        Thread thread = new Thread(one);
        thread.start();
        other.run();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void expect(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}
