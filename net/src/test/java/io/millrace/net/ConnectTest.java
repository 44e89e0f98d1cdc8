package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class ConnectTest {
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
    void aRefusedConnectNamesTheAddressAndClosesTheStream() throws Exception {
        InetSocketAddress nobody = portOfNobody();
        TcpStream[] begun = new TcpStream[1];

        assertThatThrownBy(() -> {
                    begun[0] = rig.keep(rig.net.connect(nobody));
                    rig.finishConnect(begun[0]);
                })
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("cannot connect to " + nobody)
                .hasMessageMatching("(?is).*refused.*")
                .hasMessageContaining("check that a server listens there")
                .hasCauseInstanceOf(java.io.IOException.class);
        if (begun[0] != null) {
            assertThat(begun[0].isConnected()).isFalse();
            assertThatThrownBy(begun[0]::finishConnect).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void onARegisteredStreamARefusalIsReportedAsWritable() throws Exception {
        TcpStream stream;
        try {
            stream = rig.keep(rig.net.connect(portOfNobody()));
        } catch (ConnectException e) {
            return; // Known at once: nothing left to report.
        }
        rig.poll.register(stream, 7, Interest.READ_WRITE, Trigger.EDGE);

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();

        assertThatThrownBy(stream::finishConnect).isInstanceOf(ConnectException.class);
        assertThat(rig.poll.size()).as("closed, so deregistered").isZero();
    }

    @Test
    void beforeItIsConnectedNothingCanBeMoved() throws Exception {
        TcpListener listener = rig.listener();
        TcpStream stream = rig.keep(rig.net.connect(listener.localAddress()));
        if (!stream.isConnected()) {
            assertThatThrownBy(() -> stream.tryRead(ByteBuffer.allocate(1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("not connected")
                    .hasMessageContaining("finishConnect()");
            assertThatThrownBy(() -> stream.tryWrite(ByteBuffer.allocate(1))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::shutdownOutput).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::shutdownInput).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(stream::localAddress).isInstanceOf(IllegalStateException.class);
            assertThat(stream.toString()).contains("connecting");
        }

        rig.finishConnect(stream);

        assertThat(stream.isConnected()).isTrue();
        assertThat(stream.finishConnect()).isTrue();
        assertThat(stream.tryWrite(ByteBuffer.allocate(1))).isEqualTo(1);
    }

    @Test
    void aStreamRegisteredWhileItConnectsReportsBothDirectionsAfterwards() throws Exception {
        TcpListener listener = rig.listener();
        TcpStream stream = rig.keep(rig.net.connect(listener.localAddress()));
        rig.poll.register(stream, 7, Interest.READ_WRITE, Trigger.EDGE);
        while (!stream.finishConnect()) {
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        }
        TcpStream server = listener.accept();
        assertThat(server).isNotNull();
        rig.keep(server);
        ByteBuffer into = ByteBuffer.allocate(8);
        server.tryWrite(TcpStreamTest.ascii("hello"));

        while (stream.tryRead(into) == TcpStream.WOULD_BLOCK) {
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        }

        assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("hello"));
    }

    /** The broadcast address of the loopback network: no TCP connection leads there, and nothing is sent to find out. */
    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("mill-11: an address that cannot be reached is said so at once")
    void anUnreachableAddressIsSaidSo() {
        InetSocketAddress everybody = new InetSocketAddress(InetAddress.ofLiteral("127.255.255.255"), 9);

        assertThatThrownBy(() -> rig.finishConnect(rig.keep(rig.net.connect(everybody))))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("cannot connect to " + everybody)
                .hasMessageMatching("(?is).*unreachable.*");
    }

    @Test
    void aNameMustBeResolvedFirst() {
        InetSocketAddress name = InetSocketAddress.createUnresolved("example.org", 80);

        assertThatThrownBy(() -> rig.net.connect(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot connect to example.org")
                .hasMessageContaining("InetAddress.getByName(host)");
        assertThatThrownBy(() -> rig.net.listen(name)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Bound, but not listening, so that the system gives it to nobody else. */
    private InetSocketAddress portOfNobody() throws Exception {
        return (InetSocketAddress)
                rig.keep(SocketChannel.open().bind(Rig.ANY_PORT)).getLocalAddress();
    }
}
