package io.millrace.examples.howto;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.Trigger;
import java.time.Duration;

/** A source of one's own: readable when a temperature was measured that nobody has read. Keeps the latest one only. */
public final class Thermometer implements Source, AutoCloseable {
    private final Registration registration = new Registration();
    private double latest = Double.NaN;

    /** A thermometer that has measured nothing yet. */
    public Thermometer() {}

    @Override
    public SourceHandle handle() {
        return registration.handle(); // the same one on every call
    }

    /**
     * Called by the driver, on a thread of its own.
     *
     * @param degrees what was measured
     */
    public synchronized void measured(double degrees) {
        latest = degrees;
        registration.setReadiness(Readiness.READABLE); // wakes the poll, if it sleeps
    }

    /**
     * Called when the poll says that there is something to read.
     *
     * @return the latest temperature; NaN if there is none that was not read yet
     */
    public synchronized double tryRead() {
        double degrees = latest;
        latest = Double.NaN;
        registration.unsetReadiness(Readiness.READABLE);
        return degrees;
    }

    @Override
    public void close() {
        registration.close();
    }

    /**
     * Prints three temperatures.
     *
     * @param args none
     */
    public static void main(String[] args) {
        try (Poll poll = Poll.open();
                Thermometer thermometer = new Thermometer()) {
            poll.register(thermometer, 1, Interest.READABLE, Trigger.LEVEL);
            Events events = Events.withCapacity(16);
            for (double degrees = 20; degrees <= 22; degrees++) {
                double measured = degrees;
                Thread.ofPlatform().start(() -> thermometer.measured(measured)); // the driver
                poll.poll(events, Duration.ofSeconds(10));
                while (events.advance()) {
                    System.out.println(thermometer.tryRead() + " degrees");
                }
            }
        }
    }
}
