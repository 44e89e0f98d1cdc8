/**
 * A small Redis in memory, on {@link io.millrace.server.TcpServer} alone: an example to read and to measure, not a
 * database. Nothing is written to disk.
 *
 * <p><b>What lives here.</b> In the order of a byte's path: {@link io.millrace.cli.redis.Session} gets what was read,
 * {@link io.millrace.cli.redis.CommandParser} finds the commands in it, {@link io.millrace.cli.redis.Commands} runs
 * them on the {@link io.millrace.cli.redis.Keyspace}, and the {@link io.millrace.cli.redis.Reply} of all of them is
 * sent once.
 *
 * <p>There is one keyspace and one lock. A session takes the lock once for all commands of a read. With one loop, the
 * default, the lock is never contended; with more loops the result is correct, but only reading and writing get faster.
 *
 * <p><b>Who may call it.</b> {@code cli}. <b>What it may call.</b> {@code server}, and the alarms of {@code engine}.
 */
package io.millrace.cli.redis;
