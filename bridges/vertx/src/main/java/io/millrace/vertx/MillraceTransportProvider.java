package io.millrace.vertx;

import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.spi.transport.Transport;

/**
 * Found by {@code ServiceLoader}: gives {@link MillraceTransport#onOwnThreads} to each {@code Vertx} that would otherwise
 * run on NIO. A native transport that the program asked for stays. Vert.x does not tell whether NIO was asked for or is
 * the default, so a program that wants NIO beside this library sets {@code -Dmillrace.vertx.default=false}.
 */
public final class MillraceTransportProvider implements VertxServiceProvider {
    private static final String PROPERTY = "millrace.vertx.default";

    /** For {@code ServiceLoader}. */
    public MillraceTransportProvider() {}

    @Override
    @SuppressWarnings("ReferenceEquality") // there is one such transport
    public void init(VertxBootstrap bootstrap) {
        Transport chosen = bootstrap.transport();
        boolean isDefault = chosen == null || chosen == io.vertx.core.transport.Transport.NIO.implementation();
        if (isDefault && !"false".equals(System.getProperty(PROPERTY))) {
            bootstrap.transport(MillraceTransport.onOwnThreads().implementation());
        }
    }
}
