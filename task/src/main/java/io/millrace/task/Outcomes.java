package io.millrace.task;

/** A stream that yields failures as values. */
final class Outcomes<T> implements PollableStream<Outcome<T>> {
    private final Guarded<T> stream;

    Outcomes(PollableStream<T> stream) {
        this.stream = new Guarded<>(stream);
    }

    @Override
    public Step<Outcome<T>> poll(Waker waker) {
        return switch (stream.poll(waker)) {
            case Outcome<T> outcome -> Step.item(outcome);
            case Step.Pending<T> pending -> Step.pending();
            case Step.Ended<T> ended -> Step.ended();
        };
    }

    @Override
    public void cancel() {
        stream.cancel();
    }

    @Override
    public String toString() {
        return stream.toString();
    }
}
