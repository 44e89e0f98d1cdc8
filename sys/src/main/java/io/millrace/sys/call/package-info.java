/**
 * How a native call is made, by {@code java.lang.foreign}, and nothing about what it is for.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.sys.call.Native} links a function once, when it is first needed; {@link io.millrace.sys.call.Downcall} and {@code Posix} call it; {@link
 * io.millrace.sys.call.CallState} keeps the {@code errno} of a call; {@link io.millrace.sys.call.Errno} and {@link io.millrace.sys.call.ErrnoException} give it a name. {@link
 * io.millrace.sys.call.Iovecs}, {@link io.millrace.sys.call.Scratch} and {@link io.millrace.sys.call.BufferAddress} turn buffers into addresses; what is lent comes from a {@code
 * LendingPool}, so that a thread that passes by leaves no memory behind.
 *
 * <p><b>Who may call.</b> The rest of {@code sys}; of {@code poll}, {@code net} and {@code engine} those that name an error or pass memory on. It calls the JDK only.
 */
package io.millrace.sys.call;
