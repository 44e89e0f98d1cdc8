/**
 * What the engine and {@code server} share and users do not see.
 *
 * <p><b>What lives here.</b> Reporting that cannot fail ({@link io.millrace.engine.internal.FailureLog}), the one
 * deadline of a shutdown ({@link io.millrace.engine.internal.Deadline}), work in the background, waiting without being
 * interrupted, the errors for a lack of threads, and the spare descriptor for a lack of descriptors.
 *
 * <p><b>Who may call it.</b> The packages of the engine and {@code io.millrace.server}, to which alone it is exported.
 *
 * <p><b>What it may call.</b> {@code poll} for the clock, and {@code net} and {@code sys} for the spare descriptor; no
 * other package of the engine.
 */
package io.millrace.engine.internal;
