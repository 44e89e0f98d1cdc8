/**
 * One thread and its turn.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.engine.reactor.Reactor} is where to begin: its turn is eight steps with names. It takes from the {@link io.millrace.engine.reactor.RunQueue}, which has five classes with a budget each, and
 * from the {@link io.millrace.engine.reactor.AlarmWheels}. {@link io.millrace.engine.reactor.EventSink} is what it calls when a source is ready, and ends when it ends itself. {@link io.millrace.engine.reactor.Cancellable} is the word that
 * decides between running and cancelling, {@link io.millrace.engine.reactor.Lifecycle} the one that decides which caller ends a manager. {@link io.millrace.engine.reactor.ReactorMetrics} are written by the reactor's thread alone.
 *
 * <p><b>Who may call.</b> The other rooms of the engine; not exported. A method says which thread it belongs to: the reactor's own, or any.
 *
 * <p><b>What it may call.</b> {@code watchdog}, {@code internal}, {@code poll}, and of {@code io.millrace.engine} the types that users see. Neither a descriptor nor a transport: it knows them as {@code EventSink}.
 */
package io.millrace.engine.reactor;
