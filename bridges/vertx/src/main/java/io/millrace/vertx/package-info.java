/**
 * Vert.x 5 on Millrace's loops. {@link io.millrace.vertx.MillraceTransport} is what programs see;
 * {@link io.millrace.vertx.MillraceTransportProvider} is what Vert.x finds. This calls {@code bridges/netty}, and nothing
 * calls this.
 */
package io.millrace.vertx;
