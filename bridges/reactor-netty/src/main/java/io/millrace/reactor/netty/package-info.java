/**
 * Reactor Netty, and so Spring WebFlux, on Millrace's loops: {@link io.millrace.reactor.netty.MillraceLoopResources}.
 * This calls {@code bridges/netty}, and nothing calls this.
 */
package io.millrace.reactor.netty;
