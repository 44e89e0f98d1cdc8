package io.millrace.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The CPU of a server")
@Timeout(60)
class ServerCpuTest {
    /** Takes a shell much longer than a tick of the kernel's clock. */
    private static final String WORK = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        lives       | (WORK; echo done; read end); true
        has ended   | (WORK); echo done; read end
        """)
    @EnabledOnOs(value = OS.LINUX, disabledReason = "only /proc tells the CPU of children")
    @DisplayName("includes that of a child that")
    void children(String state, String script) throws Exception {
        Process server = new ProcessBuilder("sh", "-c", script.replace("WORK", WORK)).start();
        try {
            assertThat(server.inputReader().readLine()).isEqualTo("done");
            ServerCpu cpu = ServerCpu.of(server.pid());
            assertThat(cpu.total()).as(state).isGreaterThan(0.02);
            assertThat(cpu.user() + cpu.system()).isEqualTo(cpu.total());
        } finally {
            server.getOutputStream().close();
            assertThat(server.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
