/**
 * What a server or client has once.
 *
 * <p><b>What lives here.</b> Start with {@link io.millrace.server.group.Connections}: all that are open, their number and
 * their broadcasts, within a {@link io.millrace.server.group.SendBudget}. {@link io.millrace.server.group.Reception} admits
 * what was accepted, {@link io.millrace.server.group.LoopGroup} has the loops that take turns, and {@link
 * io.millrace.server.group.GracefulEnd} shuts all of it down.
 *
 * <p><b>Who may call it.</b> {@code connect} and {@code io.millrace.server}; the package is not exported. <b>What it may
 * call.</b> {@code connection}, {@code loop}, {@code support}, the public types of {@code io.millrace.server}, and {@code
 * engine}, {@code net} and {@code poll}.
 */
package io.millrace.server.group;
