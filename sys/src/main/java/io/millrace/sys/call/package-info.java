/**
 * Makes native calls through {@code java.lang.foreign}, without knowing what they are for.
 *
 * <p><b>What lives here.</b> {@link io.millrace.sys.call.Native} links a function when it is first needed; {@link
 * io.millrace.sys.call.Downcall} and {@code Posix} call it. {@link io.millrace.sys.call.CallState} holds the {@code
 * errno} of a call; {@link io.millrace.sys.call.Errno} and {@link io.millrace.sys.call.ErrnoException} give it a name.
 * {@link io.millrace.sys.call.Iovecs}, {@link io.millrace.sys.call.Scratch} and {@link
 * io.millrace.sys.call.BufferAddress} turn buffers into addresses. Virtual threads borrow this memory from a {@code
 * LendingPool}, so that short-lived threads leave none behind.
 *
 * <p><b>Who may call it.</b> The rest of {@code sys}, and those parts of {@code poll}, {@code net} and {@code engine}
 * that name an error or pass memory on.
 *
 * <p><b>What it may call.</b> Only the JDK.
 */
package io.millrace.sys.call;
