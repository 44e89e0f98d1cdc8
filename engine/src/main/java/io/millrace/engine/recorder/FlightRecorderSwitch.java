package io.millrace.engine.recorder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Whether events may be recorded at all: whether this JVM has the module {@code jdk.jfr}, and its recorder was ever
 * started. Before that, no event class is even loaded, because the first one costs tens of milliseconds: the JVM
 * starts the instrumentation of events for it. Afterwards, each kind of event has its own switch.
 */
public final class FlightRecorderSwitch {
    private static final VarHandle ON;

    @SuppressWarnings("UnusedVariable") // accessed through ON
    private static boolean on;

    static {
        try {
            ON = MethodHandles.lookup().findStaticVarHandle(FlightRecorderSwitch.class, "on", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        if (isReadable()) {
            RecorderStart.listen();
        }
    }

    private FlightRecorderSwitch() {}

    /** Returns whether events may be recorded. Costs a load. Any thread. */
    public static boolean isOn() {
        // Opaque: a loop that runs for days must see it some time. What is behind it has its own synchronization.
        return (boolean) ON.getOpaque();
    }

    static void turnOn() {
        ON.setOpaque(true);
    }

    /** Returns whether our module reads the recorder's. On the class path it does if the module is there. */
    private static boolean isReadable() {
        Module ours = FlightRecorderSwitch.class.getModule();
        return ModuleLayer.boot().findModule("jdk.jfr").filter(ours::canRead).isPresent();
    }
}
