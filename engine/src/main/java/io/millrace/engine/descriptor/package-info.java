/**
 * The descriptors that {@link io.millrace.engine.Reactors} hands out.
 *
 * <p><b>What lives here.</b> {@link io.millrace.engine.descriptor.FdReadiness} reports when a source is ready. Each of its
 * {@code ReadinessDirection}s is one atomic word that decides between readiness, a waiting {@code PendingNotification},
 * a timeout and a close. {@link io.millrace.engine.descriptor.StreamCompletion} moves the bytes itself; each of its
 * {@code PendingOperation}s is one read or write in progress. The {@link io.millrace.engine.descriptor.DescriptorTable}
 * knows which descriptors are open.
 *
 * <p><b>Who may call it.</b> {@code Reactors}; the package is not exported. <b>What it may call.</b> {@code reactor},
 * {@code internal}, {@code net} and {@code poll}.
 */
package io.millrace.engine.descriptor;
