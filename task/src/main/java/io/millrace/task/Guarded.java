package io.millrace.task;

/** Wraps a stream for a consumer that is not a set: an exception becomes a failure, and then the end. */
final class Guarded<T> implements PollableStream<T> {
    private final PollableStream<T> stream;
    private boolean over;

    Guarded(PollableStream<T> stream) {
        this.stream = stream;
    }

    @Override
    public Step<T> poll(Waker waker) {
        if (over) {
            return Step.ended();
        }
        if (stream instanceof Unordered<T> set) {
            return set.poll(waker); // throws only for a second consumer, which is not a failure of the set
        }
        try {
            Step<T> step = stream.poll(waker);
            if (step == null) {
                throw new NullPointerException("poll returned null; return Step.pending() if there is nothing yet");
            }
            return step;
        } catch (Throwable failure) {
            over = true;
            return Step.failed(failure);
        }
    }

    @Override
    public void cancel() {
        if (!over) {
            over = true;
            stream.cancel();
        }
    }

    @Override
    public String toString() {
        return stream.toString();
    }
}
