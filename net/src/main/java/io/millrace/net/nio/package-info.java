/**
 * The family of {@code java.nio} channels, for the {@code nio} backend, which runs everywhere.
 *
 * <p><b>What lives here.</b> {@link io.millrace.net.nio.NioSourceFactory} creates what {@code Net} wraps; everything
 * else is package-private. {@code NioBytes} moves the bytes; {@code NioStream} does so for a connection. {@code
 * NioWatch} has the only thread of this package, because the JDK's watch service cannot be polled by a selector.
 *
 * <p><b>Who may call it.</b> {@code Net} of {@code io.millrace.net}, through the factory; all others through {@code
 * io.millrace.net.family}. The package is not exported.
 *
 * <p><b>What it may call.</b> {@code family}, {@code poll}, the JDK, and those parts of {@code sys} that are about
 * memory or names, but no system call; neither the public classes nor {@code fd}.
 */
package io.millrace.net.nio;
