package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.BackendReport;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class NetTest {
    @TempDir
    Path directory;

    @Test
    void theStandardFollowsTheDefaultBackend() {
        boolean nio = BackendReport.probe().chosen().equals("nio");

        assertThat(Net.standard()).isSameAs(nio ? Net.nio() : Net.natively()).isSameAs(Net.standard());
    }

    @Test
    void theStaticFactoriesFitAPollOpenedByDefault() throws Exception {
        try (Poll poll = Poll.open();
                TcpListener listener = TcpListener.bind(Rig.ANY_PORT);
                TcpStream stream = TcpStream.connect(listener.localAddress());
                Pipe pipe = Pipe.open();
                UdpSocket udp = UdpSocket.bind(Rig.ANY_PORT);
                UnixListener unixListener = UnixListener.bind(directory.resolve("socket"));
                UnixStream unixStream = UnixStream.connect(directory.resolve("socket"))) {
            poll.register(listener, 1, Interest.READABLE, Trigger.EDGE);
            poll.register(stream, 2, Interest.READ_WRITE, Trigger.EDGE);
            poll.register(pipe.source(), 3, Interest.READABLE, Trigger.EDGE);
            poll.register(pipe.sink(), 4, Interest.WRITABLE, Trigger.EDGE);

            poll.register(udp, 5, Interest.READABLE, Trigger.EDGE);
            poll.register(unixListener, 6, Interest.READABLE, Trigger.EDGE);
            poll.register(unixStream, 7, Interest.READ_WRITE, Trigger.EDGE);

            assertThat(poll.size()).isEqualTo(7);
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
    void thePollOfTheOtherFamilyRefusesWithTheRemedy() throws Exception {
        try (Poll nio = Poll.builder().backend("nio").open();
                Poll descriptors = Poll.builder().backend("poll").open();
                Pipe fd = Net.natively().pipe();
                Pipe channel = Net.nio().pipe();
                UdpSocket fdUdp = Net.natively().udp(Rig.ANY_PORT);
                UdpSocket channelUdp = Net.nio().udp(Rig.ANY_PORT)) {
            assertThat(Net.of(nio)).isSameAs(Net.nio());
            assertThat(Net.of(descriptors)).isSameAs(Net.natively());

            assertThatThrownBy(() -> nio.register(fd.source(), 1, Interest.READABLE, Trigger.EDGE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Net.of(poll)");
            assertThatThrownBy(() -> descriptors.register(channel.source(), 1, Interest.READABLE, Trigger.EDGE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Net.of(poll)");
            assertThatThrownBy(() -> nio.register(fdUdp, 1, Interest.READABLE, Trigger.EDGE))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> descriptors.register(channelUdp, 1, Interest.READABLE, Trigger.EDGE))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(fd.sink().tryWrite(ByteBuffer.allocate(1)))
                    .as("and nothing happened to it")
                    .isEqualTo(1);
        }
    }

    @Test
    void aFamilySaysWhichItIs() {
        assertThat(Net.nio()).hasToString("Net of java.nio channels");
    }
}
