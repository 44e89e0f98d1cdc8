/**
 * What a backend must supply, and what it is given to watch.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.sys.Selector} is the one page that a mechanism implements: open, control, wait, wake, close; a {@link
 * io.millrace.sys.SelectorProvider} says whether it can, and why not. A {@link io.millrace.sys.SystemHandle} is what it watches: a {@link
 * io.millrace.sys.Descriptor}, which decides when its number may be given back to the kernel, or a {@link io.millrace.sys.NioHandle}. A {@link
 * io.millrace.sys.KernelKey} is the 64 bits that travel through the kernel and come back with an event.
 *
 * <p><b>Its rooms</b>, from the bottom up: {@code call} makes native calls; this package; {@code posix} has the system calls by subject; {@code selector} has the
 * mechanisms, a file each, and chooses one.
 *
 * <p><b>Who may call.</b> {@code poll}, {@code net} and {@code engine}; none of it is for users. Nothing here calls upwards.
 */
package io.millrace.sys;
