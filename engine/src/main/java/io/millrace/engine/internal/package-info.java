/**
 * What the engine and the rooms above it share and no user sees: reporting that cannot fail ({@link io.millrace.engine.internal.FailureLog}), the one deadline of an ending ({@link io.millrace.engine.internal.Deadline}), and threads. Exported to {@code
 * io.millrace.server} alone.
 */
package io.millrace.engine.internal;
