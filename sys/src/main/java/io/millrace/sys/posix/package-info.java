/**
 * The system calls, by subject.
 *
 * <p><b>What lives here.</b> {@link io.millrace.sys.posix.Sockets}, {@link io.millrace.sys.posix.Datagrams}, {@link
 * io.millrace.sys.posix.Files}, {@link io.millrace.sys.posix.Pipes}, {@link io.millrace.sys.posix.Processes}, {@link
 * io.millrace.sys.posix.Signals}, {@link io.millrace.sys.posix.Inotify}, and {@link io.millrace.sys.posix.Fds} for
 * descriptors of any kind; {@link io.millrace.sys.posix.DescriptorPassing}, {@link io.millrace.sys.posix.SocketFacts} and
 * {@link io.millrace.sys.posix.PeerIdentity} for descriptors that go from one process to another.
 *
 * <p>A call that would block says so by its result. Every other failure is an {@link
 * io.millrace.sys.call.ErrnoException} that names the call, the descriptor and the reason. Whatever is opened here is a
 * {@link io.millrace.sys.Descriptor} and is closed on exec.
 *
 * <p><b>Who may call it.</b> {@code net} and {@code engine}.
 *
 * <p><b>What it may call.</b> {@code call} and {@code io.millrace.sys}.
 */
package io.millrace.sys.posix;
