/**
 * The family of descriptors, for the backends that make system calls of their own (epoll, kqueue, poll(2)).
 *
 * <p><b>Who lives here.</b> {@link io.millrace.net.fd.FdSourceFactory} makes what {@code Net} wraps, {@link
 * io.millrace.net.fd.FdAdoption} takes over descriptors that somebody else opened; all else is package-private. {@code FdBytes} is where bytes move: it
 * prepares the memory, makes the call, and is the one place that knows of interrupted calls, would-block and short reads. A subclass of it says which system
 * calls those are: {@code FdStream} (a socket of ours), {@code FdPipe}, {@code FdForeignSocket} and {@code FdGuarded}.
 *
 * <p><b>Who may call.</b> {@code Net} and {@code FdSource} of {@code io.millrace.net}, by the two public classes; everybody else through {@code
 * io.millrace.net.family}. The package is not exported.
 *
 * <p><b>What it may call.</b> {@code family}, {@code poll.internal} and {@code sys}, which makes the system calls. Neither the public classes nor {@code nio}.
 *
 * <p>Every call holds a use of its descriptor ({@code FdUse}), so that a close by another thread waits for its end and no call reaches a number that was given to
 * somebody else.
 */
package io.millrace.net.fd;
