/**
 * What the engine and the rooms above it share and no user sees: reporting that cannot fail, and deadlines of endings. Exported to {@code io.millrace.server} alone.
 */
package io.millrace.engine.internal;
