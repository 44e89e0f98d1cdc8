/**
 * Sources that the kernel watches: sockets, pipes, files, signals and child processes.
 *
 * <p><b>What lives here.</b> The public classes. {@link io.millrace.net.Net} creates {@link
 * io.millrace.net.TcpListener} and {@link io.millrace.net.TcpStream}, {@link io.millrace.net.UnixListener} and {@link
 * io.millrace.net.UnixStream}, {@link io.millrace.net.UdpSocket}, {@link io.millrace.net.Pipe}, {@link
 * io.millrace.net.FileSource}, {@link io.millrace.net.FileWatch} and {@link io.millrace.net.ChildProcess}. {@link
 * io.millrace.net.FdSource} and {@link io.millrace.net.SignalSource} have their own factories. A {@link
 * io.millrace.poll.Poll} waits for them.
 *
 * <p>No call in this package waits. A call that can do nothing now says so by its result; {@link io.millrace.net.Io}
 * names the results.
 *
 * <p><b>Two families.</b> Sources are built on descriptors or on {@code java.nio} channels; the public types are the
 * same for both. The public types check arguments, keep themselves reachable, and notice when they were dropped without
 * close. The other half of each source is the calls of its family, which {@link io.millrace.net.Net} creates and wraps.
 * {@code net.family} has the interfaces, {@code net.fd} and {@code net.nio} are the families. A third, {@code
 * net.memory}, has streams without sockets for {@code testkit}.
 *
 * <p><b>Who may call it.</b> Users, {@code engine} and {@code server}. Any thread may close a source at any time; a
 * call in progress finishes first.
 *
 * <p><b>What it may call.</b> {@code poll}, and the packages of the families, none of which users see; within
 * this package only {@code Net} and {@code FdSource} know them. Nothing here knows a backend, and only {@code sys}
 * makes system calls.
 */
package io.millrace.net;
