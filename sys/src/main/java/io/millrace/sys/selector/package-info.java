/**
 * The mechanisms, one file each, and the choice between them.
 *
 * <p><b>What lives here.</b> {@link io.millrace.sys.selector.Backends} probes the mechanisms, chooses one and keeps the
 * reasons. {@code EpollSelector} and {@code KqueueSelector} get edges and one-shots from the kernel. {@code
 * PollSelector} and {@code NioSelector} only know levels and extend {@code EmulatingSelector}, which remembers what was
 * reported. {@code WakeFd} ends a native wait from another thread. {@link io.millrace.sys.selector.SingleWait} waits
 * for a single handle. {@link io.millrace.sys.selector.HeldInput} keeps a file watch readable while it holds changes.
 *
 * <p><b>Who may call it.</b> {@code poll} and {@code net}, through {@code Backends}, {@code SingleWait} and {@code
 * HeldInput}; the classes of the mechanisms are not public.
 *
 * <p><b>What it may call.</b> {@code io.millrace.sys} and {@code call}.
 */
package io.millrace.sys.selector;
