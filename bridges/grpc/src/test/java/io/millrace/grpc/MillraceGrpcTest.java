package io.millrace.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.millrace.engine.EventManager;
import io.millrace.engine.GlobalEventManager;
import io.millrace.engine.Reactors;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** gRPC on our loops. gRPC's own interop tests are in tests/grpc-interop. */
class MillraceGrpcTest {
    private static final MethodDescriptor.Marshaller<String> TEXT = new MethodDescriptor.Marshaller<>() {
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
    };
    private static final MethodDescriptor<String, String> ECHO = MethodDescriptor.<String, String>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("test.Echo/Say")
            .setRequestMarshaller(TEXT)
            .setResponseMarshaller(TEXT)
            .build();

    @Test
    @DisplayName("nty-3: a gRPC server and its client run on the threads of a given manager")
    void onAGivenManager() throws Exception {
        try (Reactors reactors =
                Reactors.builder().reactors(1).name("grpc-loops").open()) {
            assertThat(threadsOfAnEcho(reactors)).containsExactly("grpc-loops-0");
        }
    }

    @Test
    @DisplayName("nty-3: without a manager, they run on the one that the program has registered")
    void onTheRegisteredManager() throws Exception {
        try (Reactors reactors = Reactors.builder()
                .reactors(1)
                .name("registered-loops")
                .daemon(true)
                .open()) {
            GlobalEventManager.register(reactors);
            assertThat(threadsOfAnEcho(null)).containsExactly("registered-loops-0");
            asThePageShows();
        }
    }

    /** What docs/bridges/grpc.md shows: one line of a server and one of a channel. */
    private static void asThePageShows() throws Exception {
        ServerServiceDefinition service = echo(ConcurrentHashMap.newKeySet());
        Server server = MillraceGrpc.onLoops(NettyServerBuilder.forPort(0))
                .addService(service)
                .build()
                .start();
        ManagedChannel channel = MillraceGrpc.onLoops(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()))
                .usePlaintext()
                .build();
        assertThat(ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, "hello"))
                .isEqualTo("you said hello");
        end(server, channel);
    }

    private static ServerServiceDefinition echo(Set<String> threads) {
        return ServerServiceDefinition.builder("test.Echo")
                .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, response) -> {
                    threads.add(Thread.currentThread().getName());
                    response.onNext("you said " + request);
                    response.onCompleted();
                }))
                .build();
    }

    private static void end(Server server, ManagedChannel channel) throws InterruptedException {
        assertThat(channel.shutdown().awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(server.shutdown().awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    /** Says a word, and returns the threads that the service ran on. */
    private static Set<String> threadsOfAnEcho(EventManager manager) throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        ServerServiceDefinition service = echo(threads);
        NettyServerBuilder serverBuilder =
                NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Server server = (manager == null
                        ? MillraceGrpc.onLoops(serverBuilder)
                        : MillraceGrpc.onLoops(serverBuilder, manager))
                .directExecutor()
                .addService(service)
                .build()
                .start();
        NettyChannelBuilder channelBuilder =
                NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext();
        ManagedChannel channel = (manager == null
                        ? MillraceGrpc.onLoops(channelBuilder)
                        : MillraceGrpc.onLoops(channelBuilder, manager))
                .build();
        try {
            for (int i = 0; i < 10; i++) {
                assertThat(ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, "hello"))
                        .isEqualTo("you said hello");
            }
        } finally {
            end(server, channel);
        }
        return threads;
    }

    @Test
    @DisplayName("nty-3: a manager that is not ours is refused with the remedy")
    void anotherManager() {
        EventManager other = (EventManager) Proxy.newProxyInstance(
                EventManager.class.getClassLoader(),
                new Class<?>[] {EventManager.class},
                (proxy, method, args) -> method.getName().equals("toString") ? "somebody else's" : null);
        assertThatThrownBy(() -> MillraceGrpc.onLoops(NettyChannelBuilder.forAddress("127.0.0.1", 1), other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("somebody else's")
                .hasMessageContaining("GlobalEventManager");
    }
}
