package io.millrace.server.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.Addresses;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("srv-13: the order of addresses")
class AddressOrderTest {
    private static List<String> order(String... found) {
        return AddressOrder.interleave(Stream.of(found).map(Addresses::address).toList()).stream()
                .map(InetAddress::getHostAddress)
                .toList();
    }

    @Test
    @DisplayName("srv-13: families take turns, IPv6 first, each in the resolver's order")
    void familiesTakeTurns() {
        assertThat(order("10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1", "2001:db8::2"))
                .containsExactly("2001:db8:0:0:0:0:0:1", "10.0.0.1", "2001:db8:0:0:0:0:0:2", "10.0.0.2", "10.0.0.3");
        assertThat(order("2001:db8::2", "2001:db8::1", "10.0.0.1"))
                .containsExactly("2001:db8:0:0:0:0:0:2", "10.0.0.1", "2001:db8:0:0:0:0:0:1");
    }

    @Test
    @DisplayName("srv-13: one family keeps its order, and no address is tried twice")
    void oneFamily() {
        assertThat(order("10.0.0.2", "10.0.0.1", "10.0.0.2")).containsExactly("10.0.0.2", "10.0.0.1");
        assertThat(order()).isEmpty();
    }
}
