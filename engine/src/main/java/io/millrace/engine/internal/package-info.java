/**
 * What the engine and the modules above it share and users do not see: reporting that cannot fail ({@link
 * io.millrace.engine.internal.FailureLog}), the one deadline of a shutdown ({@link
 * io.millrace.engine.internal.Deadline}), and threads. Exported to {@code io.millrace.server} only.
 */
package io.millrace.engine.internal;
