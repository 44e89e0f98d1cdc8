package io.millrace.engine.recorder;

import io.millrace.engine.internal.FailureLog;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;

/** Waits, without a thread, for the flight recorder to be started for the first time. */
final class RecorderStart implements FlightRecorderListener {
    private RecorderStart() {}

    /** Called once. If recording has begun already, that is noticed within this call. */
    static void listen() {
        try {
            FlightRecorder.addListener(new RecorderStart());
        } catch (RuntimeException | LinkageError e) {
            // The module is there, but the JVM was built or started without a recorder. Nothing can be recorded then.
        }
    }

    @Override
    public void recorderInitialized(FlightRecorder recorder) {
        try {
            LoopEvents.begin();
            FlightRecorderSwitch.turnOn();
        } catch (RuntimeException | LinkageError e) {
            FailureLog.report("the events for the flight recorder", e);
        }
    }
}
