package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.BackendReport;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class NetTest {
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
                Pipe pipe = Pipe.open()) {
            poll.register(listener, 1, Interest.READABLE, Trigger.EDGE);
            poll.register(stream, 2, Interest.READ_WRITE, Trigger.EDGE);
            poll.register(pipe.source(), 3, Interest.READABLE, Trigger.EDGE);
            poll.register(pipe.sink(), 4, Interest.WRITABLE, Trigger.EDGE);

            assertThat(poll.size()).isEqualTo(4);
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
    void thePollOfTheOtherFamilyRefusesWithTheRemedy() throws Exception {
        try (Poll nio = Poll.builder().backend("nio").open();
                Poll descriptors = Poll.builder().backend("poll").open();
                Pipe fd = Net.natively().pipe();
                Pipe channel = Net.nio().pipe()) {
            assertThat(Net.of(nio)).isSameAs(Net.nio());
            assertThat(Net.of(descriptors)).isSameAs(Net.natively());

            assertThatThrownBy(() -> nio.register(fd.source(), 1, Interest.READABLE, Trigger.EDGE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Net.of(poll)");
            assertThatThrownBy(() -> descriptors.register(channel.source(), 1, Interest.READABLE, Trigger.EDGE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Net.of(poll)");
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
