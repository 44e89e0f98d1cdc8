package io.millrace.net.fd;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.family.ByteCalls;
import io.millrace.sys.posix.Fds;
import io.millrace.sys.posix.Processes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
@DisplayName("Somebody else's descriptor that cannot be asked not to wait")
class FdGuardedTest {
    @Test
    @DisplayName("tip-7: a pipe that cannot be opened again is asked by poll(2) and never waits")
    void aGuardedPipeNeverWaits() throws Exception {
        Processes.ChildPipe in = Processes.pipe(true);
        Processes.ChildPipe out = Processes.pipe(false);
        try {
            FdGuarded reader = new FdGuarded(in.theirs(), Fds.Kind.PIPE);
            assertThat(reader.read(ByteBuffer.allocate(8))).isEqualTo(ByteCalls.WOULD_BLOCK);
            assertThat(new FdPipe(in.ours(), false).write(StandardCharsets.US_ASCII.encode("x")))
                    .isEqualTo(1);
            assertThat(reader.read(ByteBuffer.allocate(8))).isEqualTo(1);

            FdGuarded writer = new FdGuarded(out.theirs(), Fds.Kind.PIPE);
            ByteBuffer much = ByteBuffer.allocate(1 << 20);
            int written;
            do {
                written = writer.write(much);
            } while (written > 0);
            assertThat(written).isEqualTo(ByteCalls.WOULD_BLOCK);
            assertThat(much.position()).isGreaterThanOrEqualTo(4096);
        } finally {
            in.ours().close();
            in.theirs().close();
            out.ours().close();
            out.theirs().close();
        }
    }
}
