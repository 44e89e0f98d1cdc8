/**
 * One thread and its turn.
 *
 * <p><b>What lives here.</b> Start with {@link io.millrace.engine.reactor.Reactor}, whose turn has eight steps. It takes work
 * from the {@link io.millrace.engine.reactor.RunQueue}, which has five priorities with a budget each, and from the
 * {@link io.millrace.engine.reactor.AlarmWheels}. An {@link io.millrace.engine.reactor.EventSink} is what it calls when
 * a source is ready, and what it ends when it ends itself. {@link io.millrace.engine.reactor.Cancellable} is the atomic
 * word that decides between running and cancelling; {@link io.millrace.engine.reactor.Lifecycle} is the one that
 * decides which caller shuts a manager down. {@link io.millrace.engine.reactor.ReactorMetrics} are written by the
 * reactor's thread only.
 *
 * <p><b>Who may call it.</b> The other packages of the engine; the package is not exported. Each method says which
 * thread may call it: the reactor's own, or any.
 *
 * <p><b>What it may call.</b> {@code watchdog}, {@code internal}, {@code poll}, and the public types of {@code
 * io.millrace.engine}. It does not know descriptors and transports, which it only sees as {@code EventSink}.
 */
package io.millrace.engine.reactor;
