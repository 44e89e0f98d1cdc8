/**
 * Notices whether a loop is blocked, busy, starved or paused.
 *
 * <p><b>What lives here.</b> {@link io.millrace.engine.watchdog.Watchdog} is a thread that regularly checks everything that is
 * {@link io.millrace.engine.watchdog.Watched}: its {@link io.millrace.engine.watchdog.Heartbeat} and the number of the
 * item that is running. {@code LoopDiagnosis} decides which state that means, {@code WatchdogLog} decides how often it
 * is reported, and {@code WatchdogSleep} lets the watchdog sleep while all loops sleep, without overlooking a loop that
 * wakes.
 *
 * <p><b>Who may call it.</b> {@code reactor}, {@code Reactors} and {@code EventLoop}; the package is not exported.
 * <b>What it may call.</b> {@code internal} and the clock of {@code poll}; it knows a loop only as {@code Watched}.
 */
package io.millrace.engine.watchdog;
