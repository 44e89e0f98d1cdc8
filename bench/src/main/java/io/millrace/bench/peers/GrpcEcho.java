package io.millrace.bench.peers;

import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

/**
 * A gRPC service that sends back what it gets, call by call and in a stream, on the event loops (a direct executor).
 *
 * <p>{@code --transport nio|epoll|io_uring|millrace|reactors} (epoll), {@code --port P} (0: the kernel chooses), {@code --loops N}.
 */
public final class GrpcEcho {
    static final MethodDescriptor<byte[], byte[]> UNARY = method(MethodDescriptor.MethodType.UNARY, "Unary");
    static final MethodDescriptor<byte[], byte[]> STREAM = method(MethodDescriptor.MethodType.BIDI_STREAMING, "Stream");

    private GrpcEcho() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String usage = "GrpcEcho [--transport nio|epoll|io_uring|millrace|reactors] [--port P] [--loops N]";
        Options options = new Options(arguments, usage, "--transport", "--port", "--loops");
        String transport = options.text("--transport", "epoll");
        int loops = (int) options.number("--loops", 1, 1, 64);
        int port = (int) options.number("--port", 0, 0, 65_535);
        ServerServiceDefinition service = ServerServiceDefinition.builder("bench.Echo")
                .addMethod(UNARY, ServerCalls.asyncUnaryCall((request, response) -> {
                    response.onNext(request);
                    response.onCompleted();
                }))
                .addMethod(STREAM, ServerCalls.asyncBidiStreamingCall(Back::new))
                .build();
        Server server = NettyLoops.of(transport, loops, options)
                .put(NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port)))
                .directExecutor()
                .addService(service)
                .build()
                .start();
        System.out.printf("listening on 127.0.0.1:%d (gRPC, %s, %d loops)%n", server.getPort(), transport, loops);
        server.awaitTermination();
    }

    private static MethodDescriptor<byte[], byte[]> method(MethodDescriptor.MethodType type, String name) {
        return MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(type)
                .setFullMethodName("bench.Echo/" + name)
                .setRequestMarshaller(new Bytes())
                .setResponseMarshaller(new Bytes())
                .build();
    }

    private record Back(StreamObserver<byte[]> response) implements StreamObserver<byte[]> {
        @Override
        public void onNext(byte[] message) {
            response.onNext(message);
        }

        @Override
        public void onError(Throwable failure) {
            // The client has left.
        }

        @Override
        public void onCompleted() {
            response.onCompleted();
        }
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
