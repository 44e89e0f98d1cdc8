package io.millrace.redis;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Asks the JDK for names, which blocks, on virtual threads: Netty's resolver over the JDK would block the loop. */
final class OffLoopResolver extends AddressResolverGroup<InetSocketAddress> {
    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
        return new InetNameResolver(executor) {
            @Override
            protected void doResolve(String name, Promise<InetAddress> promise) {
                Thread.startVirtualThread(() -> {
                    try {
                        promise.trySuccess(InetAddress.getByName(name));
                    } catch (UnknownHostException e) {
                        promise.tryFailure(e);
                    }
                });
            }

            @Override
            protected void doResolveAll(String name, Promise<List<InetAddress>> promise) {
                Thread.startVirtualThread(() -> {
                    try {
                        promise.trySuccess(List.of(InetAddress.getAllByName(name)));
                    } catch (UnknownHostException e) {
                        promise.tryFailure(e);
                    }
                });
            }
        }.asAddressResolver();
    }
}
