/** gRPC's jars are automatic modules. */
@SuppressWarnings({"module", "requires-automatic"})
module app {
    requires io.grpc.stub;
    requires io.millrace.grpc;
}
