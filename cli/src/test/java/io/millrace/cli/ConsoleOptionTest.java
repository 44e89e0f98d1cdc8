package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("millrace serve --console, and millrace top")
class ConsoleOptionTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... args) {
        return Main.run(args, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
    }

    @Test
    @DisplayName("obs-3: prints the address of its console; top shows the overview in the terminal")
    void printsItsAddress() throws Exception {
        try (Cli cli = Cli.serve("echo", "--loops", "1", "--console")) {
            cli.port();
            String line = cli.line();
            assertThat(line).matches("console on http://127\\.0\\.0\\.1:\\d+/#token=[0-9a-f]{32}");
            URI console = URI.create(line.substring("console on ".length()));
            try (InputStream health = console.resolve("/health").toURL().openStream()) {
                assertThat(new String(health.readAllBytes(), UTF_8)).isEqualTo("ok\n");
            }
            assertThat(run("top", console.toString(), "--frames", "1")).isZero();
            assertThat(out.toString(UTF_8))
                    .contains("SERVER", "echo", "millrace-0")
                    .doesNotContain("\u001b");
            cli.signal("TERM");
            assertThat(cli.exit()).isZero();
        }
    }

    @Test
    @DisplayName("obs-3: an address without a token, and a host without a console, are mistakes that it explains")
    void explainsMistakes() {
        assertThat(run("top", "http://127.0.0.1:1/")).isEqualTo(Main.CANNOT_START);
        assertThat(err.toString(UTF_8)).contains("has no token");
        assertThat(run("serve", "--console-host", "0.0.0.0")).isEqualTo(Main.CANNOT_START);
        assertThat(err.toString(UTF_8)).contains("--console-host needs --console");
        assertThat(run("serve", "--console=70000")).isEqualTo(Main.CANNOT_START);
        assertThat(err.toString(UTF_8)).contains("--console must be from 0 to 65535, not 70000");
    }
}
