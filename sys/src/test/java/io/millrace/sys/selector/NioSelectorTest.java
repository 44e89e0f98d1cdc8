package io.millrace.sys.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Bits;
import io.millrace.sys.KernelKey;
import io.millrace.sys.NioHandle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The NIO selector")
class NioSelectorTest {
    /** Fewer than a select of any platform finds at once. */
    private static final int CONNECTIONS = 200;

    private final List<Socket> clients = new ArrayList<>();
    private final List<NioHandle> connections = new ArrayList<>();
    private NioSelector selector;
    private ServerSocketChannel listener;

    @BeforeEach
    void everyoneIsReady() throws IOException {
        selector = (NioSelector) NioSelector.open();
        listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
        for (int i = 0; i < CONNECTIONS; i++) {
            Socket client = new Socket(
                    InetAddress.getLoopbackAddress(), listener.socket().getLocalPort());
            clients.add(client);
            client.getOutputStream().write(1);
            SocketChannel connection = listener.accept();
            connection.configureBlocking(false);
            connections.add(new NioHandle(connection));
            selector.add(connections.get(i), KernelKey.of(0, i), Bits.READABLE, Bits.LEVEL);
        }
        int ready = 0;
        while (ready < CONNECTIONS) { // a byte may be on its way
            ready = selector.await(-1, CONNECTIONS);
        }
    }

    @AfterEach
    void close() throws IOException {
        connections.forEach(NioHandle::close);
        for (Socket client : clients) {
            client.close();
        }
        listener.close();
        selector.close();
    }

    private void leave(int connection) {
        connections.get(connection).close();
        selector.remove(connections.get(connection), KernelKey.of(0, connection));
    }

    private boolean isGone(int connection) {
        return !connections.get(connection).channel().isRegistered();
    }

    @Test
    @DisplayName("looks at a few ready channels for each one that leaves, not at all of them")
    void manyLeaveTogether() {
        for (int i = 0; i < CONNECTIONS; i++) {
            leave(i);
        }
        // All of them for each would be 200 * 200 / 2.
        assertThat(selector.looks).isBetween((long) CONNECTIONS - 1, CONNECTIONS * 17L);
        assertThat(connections).noneMatch(connection -> connection.channel().isRegistered());
    }

    @Test
    @DisplayName("gives a descriptor back with the next wait, if not at once")
    void nextWait() throws IOException {
        leave(0);
        leave(1);
        assertThat(isGone(0)).isTrue();
        assertThat(isGone(1)).as("the first had to look at 199").isFalse();
        assertThat(clients.get(1).getInputStream().read())
                .as("what its peer hears already")
                .isEqualTo(-1);

        selector.await(0, CONNECTIONS);

        assertThat(isGone(1)).isTrue();
    }

    @Test
    @DisplayName("resets a connection at once, whatever else is ready: nothing else tells its peer")
    void resetsDoNotWait() throws IOException {
        leave(0);
        ((SocketChannel) connections.get(1).channel()).setOption(StandardSocketOptions.SO_LINGER, 0);
        leave(1);
        assertThat(isGone(1)).isTrue();
        assertThatThrownBy(() -> clients.get(1).getInputStream().read()).hasMessageContaining("reset");
    }

    @Test
    @DisplayName("lets go of an open connection at once: its owner may close it any time")
    void openOnesDoNotWait() throws IOException {
        leave(0);
        selector.remove(connections.get(1), KernelKey.of(0, 1));
        assertThat(isGone(1)).isTrue();
    }

    @Test
    @DisplayName("closes a listener at once, whatever else is ready: its port may be wanted")
    void listenersDoNotWait() throws IOException {
        leave(0);
        listener.configureBlocking(false);
        NioHandle handle = new NioHandle(listener);
        selector.add(handle, KernelKey.of(0, CONNECTIONS), Bits.READABLE, Bits.LEVEL);
        handle.close();
        selector.remove(handle, KernelKey.of(0, CONNECTIONS));
        assertThat(listener.isRegistered()).isFalse();
    }
}
