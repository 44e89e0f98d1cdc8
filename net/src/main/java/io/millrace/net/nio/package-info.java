/**
 * The family of {@code java.nio} channels, for the backend {@code nio}, which runs everywhere.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.net.nio.NioSourceFactory} makes what {@code Net} wraps; all else is package-private. {@code NioBytes} is where bytes move,
 * {@code NioStream} is the bytes of a connection. {@code NioWatch} has the one thread of this module, because the JDK's watch service can only be waited for.
 *
 * <p><b>Who may call.</b> {@code Net} of {@code io.millrace.net}, by the factory; everybody else through {@code io.millrace.net.family}. The package is not exported.
 *
 * <p><b>What it may call.</b> {@code family}, {@code poll}, the JDK, and of {@code sys} what is memory or a name; no system call. Neither the public classes nor
 * {@code fd}.
 */
package io.millrace.net.nio;
