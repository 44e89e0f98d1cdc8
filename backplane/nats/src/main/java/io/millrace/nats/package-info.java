/**
 * The engine {@code nats://}: {@link io.millrace.nats.NatsEngine} connects, {@link io.millrace.nats.Publisher} adds to
 * streams and {@link io.millrace.nats.Session} makes and reads them. Called by the service loader only.
 */
@NullMarked
package io.millrace.nats;

import org.jspecify.annotations.NullMarked;
