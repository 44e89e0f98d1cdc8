package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The relays that are measured")
class RelaysTest {
    private static final Path HOME = Path.of("/home/me/millrace");

    @Test
    @DisplayName("ours is the proxy as shipped, with one loop")
    void ours() {
        assertThat(Relays.millrace(HOME, 7007).shown(HOME))
                .isEqualTo("JDK_JAVA_OPTIONS=-XX:+UseSerialGC millrace proxy 127.0.0.1:0 127.0.0.1:7007"
                        + " --loops 1 --backend epoll");
    }

    @Test
    @DisplayName("one that is not installed says how to install it")
    void absent() {
        assertThat(Relays.socat(Optional.empty(), 7008, 7007).missing())
                .isEqualTo("it is not installed; install: sudo apt-get install -y socat");
        assertThat(Relays.haproxy(Optional.empty(), 7008, HOME).missing())
                .isEqualTo("it is not installed; install: sudo apt-get install -y haproxy");
    }

    @Test
    @DisplayName("one that is installed is told where to listen, since it does not say so")
    void installed() {
        ServerProgram socat = Relays.socat(Optional.of(Path.of("/usr/bin/socat")), 7008, 7007);
        assertThat(socat.missing()).isNull();
        assertThat(socat.port()).isEqualTo(7008);
        assertThat(socat.shown(HOME))
                .isEqualTo(
                        "/usr/bin/socat -b 65536"
                                + " TCP-LISTEN:7008,bind=127.0.0.1,fork,reuseaddr,backlog=128,nodelay TCP:127.0.0.1:7007,nodelay");
        assertThat(Relays.haproxyConfig(7008, 7007))
                .contains("nbthread 1", "mode tcp", "bind 127.0.0.1:7008", "server upstream 127.0.0.1:7007");
    }
}
