/**
 * The mechanisms, a file each, and the choice between them.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.sys.selector.Backends} probes, chooses and keeps the reasons. {@code EpollSelector} and {@code KqueueSelector} have edges and one-shots from the kernel; {@code PollSelector} and
 * {@code NioSelector} know levels only and extend {@code EmulatingSelector}, which remembers what was reported. {@code WakeFd} is how a native wait is ended by another thread. {@link
 * io.millrace.sys.selector.SingleWait} waits for one handle and no other.
 *
 * <p><b>Who may call.</b> {@code poll}, by {@code Backends} and {@link io.millrace.sys.Selector}; the classes of the mechanisms are not public. It calls the other rooms of {@code sys}.
 */
package io.millrace.sys.selector;
