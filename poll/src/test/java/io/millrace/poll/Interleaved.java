package io.millrace.poll;

/** Two threads for the model checker to interleave. */
final class Interleaved {
    private Interleaved() {}

    /**
     * Runs both. Most races are one interruption of the longer at the wrong moment, in which the shorter runs to its end; the longer begins,
     * so the checker finds those with a single switch of threads.
     */
    static void together(Runnable longer, Runnable shorter) {
        Thread thread = new Thread(shorter);
        thread.start();
        longer.run();
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
