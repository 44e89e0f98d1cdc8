/**
 * The engine {@code redis://}: {@link io.millrace.redis.RedisEngine} connects, {@link io.millrace.redis.Appender} adds to
 * streams and {@link io.millrace.redis.Follower} reads them. Called by the service loader only.
 */
@NullMarked
package io.millrace.redis;

import org.jspecify.annotations.NullMarked;
