package io.grpc.testing.integration;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.millrace.engine.Reactors;
import io.millrace.grpc.MillraceGrpc;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** gRPC's interop tests, without TLS, on reactors. */
public class MillracePlainInteropTest extends AbstractInteropTest {
    private static Reactors reactors;

    @BeforeClass
    public static void open() {
        reactors = Reactors.builder().reactors(2).name("interop").open();
    }

    @AfterClass
    public static void close() {
        reactors.close();
    }

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        NettyServerBuilder builder = MillraceGrpc.onLoops(NettyServerBuilder.forPort(0), reactors)
                .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        InternalNettyServerBuilder.setStatsEnabled(builder, false);
        return builder.addStreamTracerFactory(createCustomCensusTracerFactory());
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        NettyChannelBuilder builder = MillraceGrpc.onLoops(NettyChannelBuilder.forAddress(getListenAddress()), reactors)
                .usePlaintext()
                .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        InternalNettyChannelBuilder.setStatsEnabled(builder, false);
        return builder.intercept(createCensusStatsClientInterceptor());
    }
}
