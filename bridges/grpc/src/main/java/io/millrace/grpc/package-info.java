/**
 * gRPC-java on Millrace's loops. {@link io.millrace.grpc.MillraceGrpc} makes the builders of servers and channels; the
 * rest is gRPC's own. This calls {@code bridges/netty}, and nothing calls this.
 */
package io.millrace.grpc;
