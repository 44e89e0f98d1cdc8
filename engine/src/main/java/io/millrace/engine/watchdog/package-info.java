/**
 * Notices whether a loop is blocked, busy, starved or paused.
 *
 * <p><b>Contents.</b> {@link io.millrace.engine.watchdog.Watchdog} is a thread that regularly checks everything that is
 * {@link io.millrace.engine.watchdog.Watched}: its {@link io.millrace.engine.watchdog.Heartbeat} and the number of the
 * item that is running. {@code LoopDiagnosis} decides which state that means, {@code WatchdogLog} decides how often it
 * is reported, and {@code WatchdogSleep} lets the watchdog sleep while all loops sleep, without overlooking a loop that
 * wakes.
 *
 * <p><b>Callers.</b> {@code reactor}, {@code Reactors} and {@code EventLoop}; not exported. It knows a loop only as
 * {@code Watched}.
 */
package io.millrace.engine.watchdog;
