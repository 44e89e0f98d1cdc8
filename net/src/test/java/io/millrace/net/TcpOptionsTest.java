package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What is set is what the kernel says afterwards: every getter asks it. */
@ParameterizedClass
@EnumSource(Rig.Backend.class)
class TcpOptionsTest {
    /** Of IPv4, and of IPv6 where there is one. */
    private static final List<InetSocketAddress> ADDRESSES = addresses();

    private static List<InetSocketAddress> addresses() {
        List<InetSocketAddress> addresses = new ArrayList<>(List.of(new InetSocketAddress("127.0.0.1", 0)));
        try (ServerSocket six = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
            addresses.add(new InetSocketAddress(six.getInetAddress(), 0));
        } catch (IOException e) {
            // A machine without IPv6.
        }
        return addresses;
    }

    @Parameter
    Rig.Backend backend;

    private Rig rig;

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    void noDelayIsOffUntilItIsSet() throws Exception {
        TcpStream stream = rig.connection().client();
        assertThat(stream.noDelay()).isFalse();

        stream.setNoDelay(true);
        assertThat(stream.noDelay()).isTrue();
        stream.setNoDelay(false);
        assertThat(stream.noDelay()).isFalse();
    }

    @Test
    @DisplayName("mill-10: keep-alive is really applied, with all three times")
    void keepAliveHasItsThreeTimes() throws Exception {
        TcpStream stream = rig.connection().client();
        assertThat(stream.keepAlive()).isNull();
        KeepAlive times = new KeepAlive(Duration.ofSeconds(60), Duration.ofMillis(9_001), 4);

        stream.setKeepAlive(times);

        assertThat(stream.keepAlive())
                .isEqualTo(times)
                .isEqualTo(new KeepAlive(Duration.ofSeconds(60), Duration.ofSeconds(10), 4));
        stream.setKeepAlive(KeepAlive.after(Duration.ofSeconds(30)));
        assertThat(stream.keepAlive()).isEqualTo(new KeepAlive(Duration.ofSeconds(30), Duration.ofSeconds(75), 9));
        stream.setKeepAlive(null);
        assertThat(stream.keepAlive()).isNull();
    }

    @Test
    void timesThatNoKernelTakesAreRefused() {
        Duration second = Duration.ofSeconds(1);
        assertThatThrownBy(() -> new KeepAlive(Duration.ZERO, second, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("idle is from 1 to 32767 seconds long, not PT0S");
        assertThatThrownBy(() -> new KeepAlive(second, Duration.ofDays(1), 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new KeepAlive(second, second, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new KeepAlive(second, second, 128)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void lingerIsRoundedUpToSeconds() throws Exception {
        TcpStream stream = rig.connection().client();
        assertThat(stream.linger()).isNull();

        stream.setLinger(Duration.ofMillis(1));
        assertThat(stream.linger()).isEqualTo(Duration.ofSeconds(1));
        stream.setLinger(Duration.ZERO);
        assertThat(stream.linger()).isEqualTo(Duration.ZERO);
        stream.setLinger(null);
        assertThat(stream.linger()).isNull();
        assertThatThrownBy(() -> stream.setLinger(Duration.ofSeconds(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> stream.setLinger(Duration.ofDays(1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("mill-11: a close with linger zero resets the connection")
    void withLingerZeroACloseIsAReset() throws Exception {
        Rig.Ends ends = rig.connection();
        ends.client().setLinger(Duration.ZERO);
        ends.client().close();
        rig.await(ends.server(), Interest.READABLE);

        assertThatThrownBy(() -> ends.server().tryRead(ByteBuffer.allocate(8)))
                .isInstanceOf(IOException.class)
                .hasMessageMatching("(?is).*reset.*");
        assertThatThrownBy(() -> {
                    ends.server().tryWrite(ascii("x"));
                    ends.server().tryWrite(ascii("x"));
                })
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ClosedChannelException.class);
    }

    /** What the Javadoc warns of: the one close that takes time, and no longer than was asked for. */
    @Test
    void withAPositiveLingerACloseWaitsForThePeerAndNoLongerThanThat() throws Exception {
        Rig.Ends ends = rig.connection();
        ends.client().setLinger(Duration.ofSeconds(1));
        ByteBuffer much = ByteBuffer.allocateDirect(1 << 20);
        while (ends.client().tryWrite(much.clear()) != Io.WOULD_BLOCK) {
            // until neither kernel takes more; nobody reads
        }
        long start = System.nanoTime();
        ends.client().close();
        long waited = System.nanoTime() - start;

        assertThat(Duration.ofNanos(waited)).isLessThan(Duration.ofSeconds(10));
        if (backend != Rig.Backend.NIO) {
            assertThat(Duration.ofNanos(waited))
                    .as("on Linux it waits although the socket never does otherwise")
                    .isGreaterThan(Duration.ofMillis(900));
        }
        assertThat(ends.client().isConnected()).isFalse();
        assertThat(rig.read(ends.server(), much.clear()))
                .as("what was sent is there")
                .isPositive();
    }

    @Test
    void onAClosedStreamEveryOptionSaysSo() throws Exception {
        TcpStream stream = rig.connection().client();
        stream.close();

        assertThatThrownBy(stream::noDelay).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> stream.setNoDelay(true)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(stream::keepAlive).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> stream.setKeepAlive(null)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(stream::linger).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> stream.setLinger(null)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void theListenersReceiveBufferIsThatOfItsConnections() throws Exception {
        TcpListener listener =
                rig.keep(rig.net.listen(Rig.ANY_PORT, ListenOptions.standard().withReceiveBuffer(50_000)));
        TcpStream client = rig.keep(rig.net.connect(listener.localAddress()));
        TcpStream server = rig.accept(listener);
        rig.finishConnect(client);

        assertThat(server.receiveBuffer()).isBetween(50_000, 100_000);
        assertThat(client.receiveBuffer()).isNotEqualTo(server.receiveBuffer());
    }

    @Test
    @DisplayName("srv-18: accepted streams begin with the options of their listener")
    void acceptedStreamsBeginWithTheOptionsOfTheirListener() throws Exception {
        KeepAlive times = new KeepAlive(Duration.ofSeconds(60), Duration.ofSeconds(10), 4);
        TcpListener listener = rig.keep(rig.net.listen(
                Rig.ANY_PORT, ListenOptions.standard().withNoDelay(true).withKeepAlive(times)));
        TcpStream client = rig.keep(rig.net.connect(listener.localAddress()));
        TcpStream server = rig.accept(listener);
        rig.finishConnect(client);

        assertThat(server.noDelay()).isTrue();
        assertThat(server.keepAlive()).isEqualTo(times);
        assertThat(client.noDelay()).as("the client's own").isFalse();
        assertThat(client.keepAlive()).as("the client's own").isNull();
    }

    @Test
    @DisplayName("srv-15: buffers, traffic class and linger of accepted streams are those of their listener")
    void acceptedStreamsHaveTheBuffersOfTheirListener() throws Exception {
        ListenOptions options = ListenOptions.standard()
                .withSendBuffer(40_000)
                .withReceiveBuffer(50_000)
                .withTrafficClass(0x28)
                .withLinger(Duration.ofMillis(1_500));
        for (InetSocketAddress address : ADDRESSES) {
            TcpListener listener = rig.keep(rig.net.listen(address, options));
            TcpStream client = rig.keep(rig.net.connect(listener.localAddress()));
            TcpStream server = rig.accept(listener);
            rig.finishConnect(client);

            assertThat(server.sendBuffer()).as("%s", address).isBetween(40_000, 80_000);
            assertThat(server.receiveBuffer()).as("%s", address).isBetween(50_000, 100_000);
            assertThat(server.trafficClass()).as("%s", address).isEqualTo(0x28);
            assertThat(server.linger()).as("%s", address).isEqualTo(Duration.ofSeconds(2));
            assertThat(client.trafficClass()).as("the client's own").isZero();
        }
    }

    @Test
    @DisplayName("srv-15: the wildcard's traffic class is that of connections over both families")
    void theTrafficClassOfBothFamilies() throws Exception {
        TcpListener listener = rig.keep(rig.net.listen(
                new InetSocketAddress(0), ListenOptions.standard().withTrafficClass(0x28)));
        for (InetSocketAddress address : ADDRESSES) {
            TcpStream client = rig.keep(rig.net.connect(new InetSocketAddress(
                    address.getAddress(), listener.localAddress().getPort())));
            TcpStream server = rig.accept(listener);
            rig.finishConnect(client);
            assertThat(server.trafficClass()).as("%s", address).isEqualTo(0x28);
            if (server.handle() instanceof KernelHandle handle && handle.system() instanceof Descriptor descriptor) {
                assertThat(SocketSetting.TYPE_OF_SERVICE.get(descriptor.fd()))
                        .as("%s", address)
                        .isEqualTo(0x28);
            }
        }
    }

    @Test
    @DisplayName("srv-15: a stream has the options that it was connected with")
    void connectedWithOptions() throws Exception {
        KeepAlive times = new KeepAlive(Duration.ofSeconds(60), Duration.ofSeconds(10), 4);
        ConnectOptions options = ConnectOptions.standard()
                .withSendBuffer(40_000)
                .withReceiveBuffer(50_000)
                .withTrafficClass(0x48)
                .withLinger(Duration.ZERO)
                .withNoDelay(true)
                .withKeepAlive(times);
        for (InetSocketAddress address : ADDRESSES) {
            TcpListener listener = rig.keep(rig.net.listen(address));
            TcpStream client = rig.keep(rig.net.connect(listener.localAddress(), options));
            TcpStream server = rig.accept(listener);
            rig.finishConnect(client);

            assertThat(client.sendBuffer()).isBetween(40_000, 80_000);
            assertThat(client.receiveBuffer()).isBetween(50_000, 100_000);
            assertThat(client.trafficClass()).isEqualTo(0x48);
            assertThat(client.linger()).isEqualTo(Duration.ZERO);
            assertThat(client.noDelay()).isTrue();
            assertThat(client.keepAlive()).isEqualTo(times);
            client.setTrafficClass(0x20);
            assertThat(client.trafficClass()).isEqualTo(0x20);
            assertThat(server.trafficClass()).as("the server's own").isZero();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-15: fast connections are asked of the listener, and NIO says that it has none")
    void fastOpen() throws Exception {
        ListenOptions options = ListenOptions.standard().withFastOpen(16);
        if (backend == Rig.Backend.NIO) {
            assertThatThrownBy(() -> rig.net.listen(Rig.ANY_PORT, options))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("java.nio has no TCP_FASTOPEN for a listener");
            return;
        }
        TcpListener listener = rig.keep(rig.net.listen(Rig.ANY_PORT, options));
        KernelHandle handle = (KernelHandle) listener.handle();
        int fd = ((Descriptor) handle.system()).fd();
        assertThat(SocketSetting.FAST_OPEN.get(fd)).isEqualTo(16);
    }

    @Test
    void withoutOptionsAcceptedStreamsAreAsTheSystemMakesThem() throws Exception {
        TcpStream server = rig.connection().server();

        assertThat(server.noDelay()).isFalse();
        assertThat(server.keepAlive()).isNull();
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
    @DisplayName("mill-10: reuse-port: several listeners share a port if all of them say so")
    void severalListenersShareAPort() throws Exception {
        ListenOptions sharing = ListenOptions.standard().withReusePort(true).withBacklog(64);
        TcpListener first = rig.keep(rig.net.listen(Rig.ANY_PORT, sharing));
        InetSocketAddress address = first.localAddress();
        TcpListener second = rig.keep(rig.net.listen(address, sharing));

        List<TcpStream> clients = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            TcpStream client = rig.keep(rig.net.connect(address));
            rig.finishConnect(client);
            clients.add(client);
        }
        int atFirst = acceptAll(first);
        int atSecond = acceptAll(second);

        assertThat(second.localAddress()).isEqualTo(address);
        assertThat(atFirst + atSecond).isEqualTo(clients.size());
        assertThatThrownBy(() -> rig.net.listen(address, ListenOptions.standard()))
                .isInstanceOf(BindException.class);
    }

    private int acceptAll(TcpListener listener) throws IOException {
        int accepted = 0;
        for (TcpStream stream = listener.accept(); stream != null; stream = listener.accept()) {
            rig.keep(stream);
            accepted++;
        }
        return accepted;
    }

    @Test
    void optionsThatMakeNoSenseAreRefused() {
        ListenOptions standard = ListenOptions.standard();
        assertThatThrownBy(() -> standard.withBacklog(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.withReceiveBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.withSendBuffer(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the size of a send buffer is not negative: -1");
        assertThatThrownBy(() -> standard.withTrafficClass(256))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a traffic class is from 0 to 255, not 256");
        assertThatThrownBy(() -> standard.withTrafficClass(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.withFastOpen(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> standard.withLinger(Duration.ofDays(1))).isInstanceOf(IllegalArgumentException.class);
        ConnectOptions connect = ConnectOptions.standard();
        assertThatThrownBy(() -> connect.withReceiveBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> connect.withSendBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> connect.withTrafficClass(256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> connect.withLinger(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(standard).isEqualTo(new ListenOptions(Net.DEFAULT_BACKLOG, false, 0, false, null, 0, null, 0, 0));
    }
}
