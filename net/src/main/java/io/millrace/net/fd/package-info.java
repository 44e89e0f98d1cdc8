/**
 * The family of descriptors, for the backends that make system calls (epoll, kqueue, poll(2)).
 *
 * <p><b>What lives here.</b> {@link io.millrace.net.fd.FdSourceFactory} creates what {@code Net} wraps; {@link
 * io.millrace.net.fd.FdAdoption} takes over descriptors that other code has opened. Everything else is package-private.
 * {@code FdBytes} moves the bytes: it prepares the memory, makes the call, and is the one place that handles
 * interrupted calls, would-block and short reads. Its subclasses say which system calls to use: {@code FdStream} (a
 * socket of ours), {@code FdPipe}, {@code FdForeignSocket} and {@code FdGuarded}.
 *
 * <p>Every call holds a use of its descriptor ({@code FdUse}). So a close by another thread waits until the call has
 * ended, and no call reaches a number that was reused for something else.
 *
 * <p><b>Who may call it.</b> {@code Net} and {@code FdSource} of {@code io.millrace.net}, through the two public
 * classes; all others through {@code io.millrace.net.family}. The package is not exported.
 *
 * <p><b>What it may call.</b> {@code family}, {@code poll.internal} and {@code sys}, which makes the system calls;
 * neither the public classes nor {@code nio}.
 */
package io.millrace.net.fd;
