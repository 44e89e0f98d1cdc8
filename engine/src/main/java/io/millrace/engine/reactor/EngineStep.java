package io.millrace.engine.reactor;

/** What a reactor is doing while it runs no user code. For reports. */
enum EngineStep {
    POLL("asking the kernel for events"),
    EVENTS("taking in events"),
    ALARMS("taking in and expiring alarms"),
    DELIVERY("delivering what is ready"),
    PUBLISH("publishing its metrics");

    private final String text;

    EngineStep(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return "the engine's own step: " + text;
    }
}
