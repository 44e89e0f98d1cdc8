import org.jspecify.annotations.NullMarked;

/** gRPC-java on Millrace's loops: {@link io.millrace.grpc.MillraceGrpc}. */
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
