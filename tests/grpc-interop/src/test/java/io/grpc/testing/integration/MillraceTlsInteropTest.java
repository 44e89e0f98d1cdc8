package io.grpc.testing.integration;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.internal.testing.TestUtils;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.TlsTesting;
import io.millrace.engine.Reactors;
import io.millrace.grpc.MillraceGrpc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** gRPC's interop tests, with TLS on both sides, on reactors. */
public class MillraceTlsInteropTest extends AbstractInteropTest {
    private static Reactors reactors;

    @BeforeClass
    public static void open() {
        reactors = Reactors.builder().reactors(2).name("interop-tls").open();
    }

    @AfterClass
    public static void close() {
        reactors.close();
    }

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        try {
            ServerCredentials credentials = TlsServerCredentials.newBuilder()
                    .keyManager(TlsTesting.loadCert("server1.pem"), TlsTesting.loadCert("server1.key"))
                    .trustManager(TlsTesting.loadCert("ca.pem"))
                    .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                    .build();
            NettyServerBuilder builder = MillraceGrpc.onLoops(NettyServerBuilder.forPort(0, credentials), reactors)
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE);
            InternalNettyServerBuilder.setStatsEnabled(builder, false);
            return builder.addStreamTracerFactory(createCustomCensusTracerFactory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        try {
            ChannelCredentials credentials = TlsChannelCredentials.newBuilder()
                    .keyManager(TlsTesting.loadCert("client.pem"), TlsTesting.loadCert("client.key"))
                    .trustManager(TlsTesting.loadCert("ca.pem"))
                    .build();
            NettyChannelBuilder builder = MillraceGrpc.onLoops(
                            NettyChannelBuilder.forAddress(
                                    "localhost", ((InetSocketAddress) getListenAddress()).getPort(), credentials),
                            reactors)
                    .overrideAuthority(TestUtils.TEST_SERVER_HOST)
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE);
            InternalNettyChannelBuilder.setStatsEnabled(builder, false);
            return builder.intercept(createCensusStatsClientInterceptor());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
