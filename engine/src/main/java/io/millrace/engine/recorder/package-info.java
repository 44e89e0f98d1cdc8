/**
 * Events for the JDK's flight recorder (JFR).
 *
 * <p><b>What lives here.</b> {@link io.millrace.engine.recorder.FlightRecorderSwitch} knows whether this JVM has a flight
 * recorder that was ever started. {@link io.millrace.engine.recorder.LoopEvents} has the events of loops. Everything that
 * mentions a class of {@code jdk.jfr} is in a class that is first used after that, so the engine runs without that
 * module, and without a cost before somebody records.
 *
 * <p><b>Who may call it.</b> {@code reactor}, {@code watchdog} and, for the switch, {@code server}; the package is not
 * exported otherwise. <b>What it may call.</b> {@code jdk.jfr} and the public views of {@code engine}.
 */
package io.millrace.engine.recorder;
