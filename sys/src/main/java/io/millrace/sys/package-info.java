/**
 * System calls and the kernel's event queues, reached by {@code java.lang.foreign}.
 *
 * <p>{@link io.millrace.sys.Selector} is what a backend must supply: open, control, wait, wake, close. One file per
 * mechanism implements it. {@link io.millrace.sys.Backends} probes and chooses. {@link io.millrace.sys.Descriptor} decides
 * when a descriptor may be closed. Nothing here calls upwards; only {@code poll}, {@code net} and {@code engine} may
 * call in.
 */
package io.millrace.sys;
