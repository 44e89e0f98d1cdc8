/**
 * The seam between the sources that users see and the two families that do their work.
 *
 * <p><b>Who lives here.</b> {@link io.millrace.net.family.SourceFactory} makes the inner half of a source; the {@code …Calls} are those
 * halves: {@link io.millrace.net.family.AcceptCalls} of a listener, {@link io.millrace.net.family.ByteCalls} of whatever moves bytes, {@link
 * io.millrace.net.family.StreamCalls} of a connection, {@link io.millrace.net.family.UdpCalls}, {@link io.millrace.net.family.FileCalls},
 * {@link io.millrace.net.family.WatchCalls} and {@link io.millrace.net.family.ProcessCalls}. Beside them are the values that
 * cross the seam, and {@link io.millrace.net.family.Failures}, so that both families fail with the same words.
 *
 * <p><b>Who may call.</b> {@code io.millrace.net} calls these interfaces, {@code io.millrace.net.fd} and {@code io.millrace.net.nio} implement
 * them. The package is not exported. Arguments were checked by the public class; the caller keeps itself reachable during the call.
 *
 * <p><b>What it may call.</b> {@code poll} and {@code sys}. It knows neither the public classes nor the families: that is why
 * the interfaces are not sealed. A family comes in by its one public factory, and all else of it is package-private and final.
 */
package io.millrace.net.family;
