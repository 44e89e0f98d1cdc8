/**
 * The interface that a backend implements, and the things that it watches.
 *
 * <p><b>What lives here.</b> {@link io.millrace.sys.Selector} is the interface of a mechanism, on one page: add,
 * modify, remove, await, wake, close. A {@link io.millrace.sys.SelectorProvider} opens it, or says why it cannot be
 * used. A {@link io.millrace.sys.SystemHandle} is what a selector watches: either a {@link io.millrace.sys.Descriptor},
 * which decides when its number may be given back to the kernel, or a {@link io.millrace.sys.NioHandle}. A {@link
 * io.millrace.sys.KernelKey} is the 64 bits that travel through the kernel and come back with an event.
 *
 * <p><b>The packages of this module</b>, from the bottom up: {@code call} makes native calls; then this package; {@code
 * posix} has the system calls by subject; {@code selector} has one file per mechanism, and chooses one of them.
 *
 * <p><b>Who may call it.</b> {@code poll}, {@code net} and {@code engine}. None of it is for users.
 *
 * <p><b>What it may call.</b> {@code call}. Nothing here calls upwards.
 */
package io.millrace.sys;
