package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class TcpListenerTest {
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
    void nobodyWaitingIsAValue() throws Exception {
        assertThat(rig.listener().accept()).isNull();
    }

    @Test
    void portZeroTakesAFreeOne() throws Exception {
        TcpListener listener = rig.listener();

        assertThat(listener.localAddress().getPort()).isPositive();
        assertThat(listener.localAddress().getAddress()).isEqualTo(InetAddress.getLoopbackAddress());
        assertThat(listener.toString()).contains("TcpListener on " + listener.localAddress());
    }

    @Test
    void oneEdgeStandsForSeveralConnections() throws Exception {
        TcpListener listener = rig.listener();
        rig.poll.register(listener, 7, Interest.READABLE, Trigger.EDGE);
        for (int i = 0; i < 3; i++) {
            rig.keep(rig.net.connect(listener.localAddress()));
        }

        int accepted = 0;
        while (accepted < 3) {
            assertThat(rig.reports(Rig.DEADLINE)).isTrue();
            for (TcpStream stream = listener.accept(); stream != null; stream = listener.accept()) {
                rig.keep(stream);
                accepted++;
            }
        }

        assertThat(rig.reports(Duration.ZERO)).as("drained").isFalse();
        rig.keep(rig.net.connect(listener.localAddress()));
        assertThat(rig.reports(Rig.DEADLINE)).as("a new edge").isTrue();
    }

    @Test
    void anAddressInUseSaysSoWithTheRemedy() throws Exception {
        TcpListener listener = rig.listener();

        assertThatThrownBy(() -> rig.net.listen(listener.localAddress()))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("cannot listen on " + listener.localAddress())
                .hasMessageMatching("(?is).*in use.*")
                .hasMessageContaining("choose a free port (0 takes any)");
    }

    @Test
    void anAddressOfAnotherMachineIsRefused() {
        // 192.0.2.0/24 is for documentation: no machine has it.
        assertThatThrownBy(() -> rig.net.listen(new InetSocketAddress("192.0.2.1", 0)))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("192.0.2.1");
    }

    @Test
    void aPortIsFreeAgainThoughConnectionsLingerOnIt() throws Exception {
        TcpListener listener = rig.listener();
        TcpStream client = rig.keep(rig.net.connect(listener.localAddress()));
        TcpStream server = rig.accept(listener);
        rig.finishConnect(client);
        server.close(); // The end that closes first is the one that stays in TIME_WAIT.
        assertThat(rig.read(client, ByteBuffer.allocate(1))).isEqualTo(TcpStream.EOF);
        client.close();
        listener.close();

        TcpListener again = rig.keep(rig.net.listen(listener.localAddress()));

        assertThat(again.localAddress()).isEqualTo(listener.localAddress());
    }

    @Test
    void theWildcardTakesBothFamiliesAndShowsIpv4PeersAsSuch() throws Exception {
        for (String wildcard : new String[] {"0.0.0.0", "::"}) {
            TcpListener listener =
                    rig.keep(rig.net.listen(new InetSocketAddress(InetAddress.ofLiteral(wildcard), 0), 16));
            int port = listener.localAddress().getPort();
            TcpStream client =
                    rig.keep(rig.net.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port)));
            TcpStream server = rig.accept(listener);
            rig.finishConnect(client);

            assertThat(listener.localAddress().getAddress().isAnyLocalAddress()).isTrue();
            assertThat(server.remoteAddress().getAddress()).isInstanceOf(Inet4Address.class);
            assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
            assertThat(server.localAddress()).isEqualTo(client.remoteAddress());
        }
    }

    @Test
    void aBacklogIsAtLeastOne() {
        assertThatThrownBy(() -> rig.net.listen(Rig.ANY_PORT, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aClosedOneAcceptsNoMore() throws Exception {
        TcpListener listener = rig.listener();
        rig.poll.register(listener, 7, Interest.READABLE, Trigger.LEVEL);
        listener.close();
        listener.close();

        assertThatThrownBy(listener::accept).isInstanceOf(ClosedChannelException.class);
        assertThat(rig.poll.size()).isZero();
        assertThatThrownBy(() -> rig.poll.register(listener, 7, Interest.READABLE, Trigger.LEVEL))
                .isInstanceOf(IllegalStateException.class);
    }
}
