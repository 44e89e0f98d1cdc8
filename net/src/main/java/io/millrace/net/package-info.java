/**
 * Sources that the kernel watches. {@link io.millrace.net.Net} makes them, {@link io.millrace.net.TcpListener} and
 * {@link io.millrace.net.TcpStream}, {@link io.millrace.net.UnixListener} and {@link io.millrace.net.UnixStream}, {@link
 * io.millrace.net.UdpSocket} and {@link io.millrace.net.Pipe}, {@link io.millrace.net.FileSource}, {@link io.millrace.net.FileWatch} and {@link
 * io.millrace.net.ChildProcess} are what it makes, and a {@link io.millrace.poll.Poll} waits for them; {@link io.millrace.net.FdSource} and {@link
 * io.millrace.net.SignalSource} make themselves.
 *
 * <p>No call in this package waits: a call that has nothing to do says so by its result, and
 * {@link io.millrace.net.Io} names the results. A source may be closed by any thread at any time; a call under way ends first.
 *
 * <p>There are two families, descriptors and {@code java.nio} channels, and the public types are the same for both: they check arguments, keep
 * themselves reachable, and find out when they were dropped without close. The other half of each is the calls of its family, which {@link
 * io.millrace.net.Net} gets and wraps. {@code net.family} is the seam, {@code net.fd} and {@code net.nio} are the families; none of the three is exported, and
 * of this package only {@code Net} and {@code FdSource} know the families. Nothing here knows a backend, and only {@code sys} makes system calls.
 */
package io.millrace.net;
