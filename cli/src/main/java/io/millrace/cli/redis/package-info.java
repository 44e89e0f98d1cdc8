/**
 * A small Redis in memory, on {@link io.millrace.server.TcpServer} alone: an example to read and to measure, not a database. Nothing is written to disk.
 *
 * <p>A byte's walk: {@link io.millrace.cli.redis.Session} gets what was read, {@link io.millrace.cli.redis.CommandParser} finds the commands in it, {@link
 * io.millrace.cli.redis.Commands} runs them on the {@link io.millrace.cli.redis.Keyspace}, and the {@link io.millrace.cli.redis.Reply} of all of them is sent once.
 *
 * <p>There is one keyspace and one lock. A session takes the lock once for all commands of a read, so with one loop, the default, it is never waited for; more loops are
 * correct, and gain only what reading and writing cost.
 */
package io.millrace.cli.redis;
