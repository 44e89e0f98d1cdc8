/**
 * The descriptors that {@link io.millrace.engine.Reactors} hands out.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.engine.descriptor.FdReadiness} tells when a source is ready; each of its {@code ReadinessDirection}s is one word in which readiness, a waiting {@code PendingNotification}, a timeout and a close meet. {@link
 * io.millrace.engine.descriptor.StreamCompletion} moves the bytes itself; each of its {@code PendingOperation}s is one read or write under way. The {@link io.millrace.engine.descriptor.DescriptorTable} knows which ones are open.
 *
 * <p><b>Who may call.</b> {@code Reactors}; not exported. It calls {@code reactor}, {@code net} and {@code poll}.
 */
package io.millrace.engine.descriptor;
