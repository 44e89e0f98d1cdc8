package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import io.millrace.sys.selector.SingleWait;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class ProcessesTest {
    private static final int[] QUIET = {Processes.DISCARD, Processes.DISCARD, Processes.DISCARD};

    @Test
    void thisKernelHasWhatItTakes() {
        assertThat(Processes.refusal()).isNull();
    }

    @Test
    void aChildEndsAndItsStatusIsTakenOnce() throws Exception {
        Processes.Started child = spawn("sh", "-c", "exit 5");

        assertThat(end(child)).isEqualTo(new Processes.Ended(5, 0));
        assertThatThrownBy(() -> Processes.take(child.pidfd().fd()))
                .isInstanceOfSatisfying(
                        ErrnoException.class,
                        e -> assertThat(e.is(Errno.ECHILD)).isTrue());
        assertThat(Processes.signal(child.pidfd().fd(), 15)).isFalse();
        child.pidfd().close();
    }

    @Test
    void aSignalEndsIt() throws Exception {
        Processes.Started child = spawn("sleep", "1000");
        assertThat(Processes.take(child.pidfd().fd())).isNull();
        assertThat(Processes.signal(child.pidfd().fd(), 15)).isTrue();

        assertThat(end(child)).isEqualTo(new Processes.Ended(-1, 15));
        child.pidfd().close();
    }

    @Test
    void onlyOurEndOfAPipeDoesNotWait() throws Exception {
        Processes.ChildPipe pipe = Processes.pipe(true);
        assertThat(Fds.isNonBlocking(pipe.ours().fd())).isTrue();
        assertThat(Fds.isNonBlocking(pipe.theirs().fd())).isFalse();
        for (Descriptor end : new Descriptor[] {pipe.ours(), pipe.theirs()}) {
            assertThat(Posix.fcntl(CallState.borrow(), end.fd(), 1, 0))
                    .as("FD_CLOEXEC")
                    .isEqualTo(1);
            end.close();
        }
    }

    @Test
    void aProgramThatIsNotThereIsRefused() {
        assertThatThrownBy(() -> spawn("/no/such/program"))
                .isInstanceOfSatisfying(
                        ErrnoException.class,
                        e -> assertThat(e.is(Errno.ENOENT)).isTrue())
                .hasMessageContaining("posix_spawn failed: ENOENT");
    }

    @Test
    void anAbandonedChildIsTakenWhenAnotherStarts() throws Exception {
        Processes.Started child = spawn("true");
        assertThat(SingleWait.await(child.pidfd(), Bits.READABLE, -1)).isNotZero();
        Path status = Path.of("/proc/" + child.pid());
        assertThat(status).as("a zombie").exists();

        Processes.abandon(child.pid());

        assertThat(status).doesNotExist();
        child.pidfd().close();
    }

    private static Processes.Started spawn(String... command) throws Exception {
        return Processes.spawn(List.of(command), Map.of(), false, null, QUIET);
    }

    private static Processes.Ended end(Processes.Started child) throws Exception {
        assertThat(SingleWait.await(child.pidfd(), Bits.READABLE, 20_000_000_000L))
                .isNotZero();
        return Processes.take(child.pidfd().fd());
    }
}
