/**
 * Topics whose messages reach connections on every node. {@link io.millrace.backplane.Backplane} opens an engine by its
 * URL, {@link io.millrace.backplane.Topic} publishes and subscribes, and {@link io.millrace.backplane.Rooms} joins the
 * connections of a server to topics. Uses {@code engine} for threads and alarms, and {@code server} in {@code Rooms}
 * only; what engines implement is in {@link io.millrace.backplane.spi}.
 */
@NullMarked
package io.millrace.backplane;

import org.jspecify.annotations.NullMarked;
