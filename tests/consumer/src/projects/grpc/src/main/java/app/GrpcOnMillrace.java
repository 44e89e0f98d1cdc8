package app;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.millrace.engine.GlobalEventManager;
import io.millrace.engine.Reactors;
import io.millrace.grpc.MillraceGrpc;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** A call on reactors that the program has registered. */
public final class GrpcOnMillrace {
    private static final MethodDescriptor<String, String> SAY = MethodDescriptor.<String, String>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("app.Echo/Say")
            .setRequestMarshaller(new Text())
            .setResponseMarshaller(new Text())
            .build();

    private GrpcOnMillrace() {}

    public static void main(String[] args) throws Exception {
        String path = GrpcOnMillrace.class.getModule().isNamed() ? "module path" : "class path";
        try (Reactors reactors =
                Reactors.builder().reactors(1).name("loops").backend("epoll").open()) {
            GlobalEventManager.register(reactors);
            ServerServiceDefinition service = ServerServiceDefinition.builder("app.Echo")
                    .addMethod(SAY, ServerCalls.asyncUnaryCall((request, response) -> {
                        response.onNext(
                                request + " on " + Thread.currentThread().getName());
                        response.onCompleted();
                    }))
                    .build();
            Server server = MillraceGrpc.onLoops(
                            NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                    .directExecutor()
                    .addService(service)
                    .build()
                    .start();
            ManagedChannel channel = MillraceGrpc.onLoops(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()))
                    .usePlaintext()
                    .build();
            System.out.println(
                    "grpc, " + path + ": " + ClientCalls.blockingUnaryCall(channel, SAY, CallOptions.DEFAULT, "hello"));
            channel.shutdown().awaitTermination(10, TimeUnit.SECONDS);
            server.shutdown().awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    private static final class Text implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
