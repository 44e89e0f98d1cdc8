import org.jspecify.annotations.NullMarked;

/**
 * gRPC-java on Millrace's loops: {@link io.millrace.grpc.MillraceGrpc}.
 *
 * <p>One line of a server, and one of a channel:
 *
 * {@snippet :
 * Server server = MillraceGrpc.onLoops(NettyServerBuilder.forPort(0))
 *         .addService(service)
 *         .build()
 *         .start();
 * ManagedChannel channel = MillraceGrpc.onLoops(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()))
 *         .usePlaintext()
 *         .build();
 * }
 */
@NullMarked
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"}) // gRPC has no module-info
module io.millrace.grpc {
    requires transitive io.millrace.engine;
    requires io.millrace.netty;
    requires io.netty.transport;
    requires transitive io.grpc;
    requires transitive io.grpc.netty;
    requires static org.jspecify;

    exports io.millrace.grpc;
}
