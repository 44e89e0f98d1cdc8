package io.millrace.server.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ConnectFailuresTest {
    private final ConnectFailures failures =
            new ConnectFailures(ConnectTarget.of(InetSocketAddress.createUnresolved("example.org", 443)));

    @Test
    @DisplayName("srv-13, tls-1: a server that answered, but not with a certificate that is trusted, is told as such")
    void handshakes() {
        failures.add(new InetSocketAddress("127.0.0.1", 443), new SSLHandshakeException("no trust in it"));
        assertThat(failures.all())
                .isInstanceOf(SSLException.class)
                .hasMessage(
                        "cannot connect to example.org:443: the TLS handshake failed; 127.0.0.1:443: no trust in it;"
                                + " check which certificates and protocols each side accepts, then connect anew")
                .hasCauseInstanceOf(SSLHandshakeException.class);
    }

    @Test
    @DisplayName("srv-13: if one address did not answer at all, it is a failure to connect")
    void mixed() {
        failures.add(new InetSocketAddress("127.0.0.1", 443), new SSLHandshakeException("no trust in it"));
        failures.add(new InetSocketAddress("127.0.0.2", 443), new ConnectException("refused"));
        assertThat(failures.all())
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("127.0.0.1:443: no trust in it; 127.0.0.2:443: refused; check that a server");
    }
}
