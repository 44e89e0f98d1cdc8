/**
 * The interfaces between the public sources and the families that do their work.
 *
 * <p><b>What lives here.</b> {@link io.millrace.net.family.SourceFactory} creates the inner half of a source. The
 * {@code …Calls} are those halves: {@link io.millrace.net.family.AcceptCalls} for a listener, {@link
 * io.millrace.net.family.ByteCalls} for anything that moves bytes, {@link io.millrace.net.family.StreamCalls} for a
 * connection, {@link io.millrace.net.family.UdpCalls}, {@link io.millrace.net.family.FileCalls}, {@link
 * io.millrace.net.family.WatchCalls} and {@link io.millrace.net.family.ProcessCalls}. There are also the values passed
 * through these interfaces, and {@link io.millrace.net.family.Failures}, which gives both families the same messages.
 *
 * <p><b>Who may call it.</b> {@code io.millrace.net} calls these interfaces; {@code io.millrace.net.fd} and {@code
 * io.millrace.net.nio} implement them. The package is not exported. The public class has already checked the arguments,
 * and the caller keeps itself reachable during the call.
 *
 * <p><b>What it may call.</b> {@code poll} and {@code sys}. It knows neither the public classes nor the families, which
 * is why the interfaces are not sealed. Each family has one public factory; everything else in it is package-private
 * and final.
 */
package io.millrace.net.family;
