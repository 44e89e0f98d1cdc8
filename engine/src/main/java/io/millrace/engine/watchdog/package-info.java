/**
 * Who looks whether a loop is blocked, busy, starved or paused.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.engine.watchdog.Watchdog} is a thread that looks now and then at what is {@link io.millrace.engine.watchdog.Watched}: at its {@link io.millrace.engine.watchdog.Heartbeat} and at the number of the item that
 * runs. {@code LoopDiagnosis} makes a verdict of what was seen, {@code WatchdogLog} decides how often it is told, and {@code WatchdogSleep} lets the watchdog sleep while all loops do, without a loop that wakes being overlooked.
 *
 * <p><b>Who may call.</b> {@code reactor} and the two faces of the engine; not exported. It knows a loop as {@code Watched} only.
 */
package io.millrace.engine.watchdog;
