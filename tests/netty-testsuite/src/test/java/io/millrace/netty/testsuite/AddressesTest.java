package io.millrace.netty.testsuite;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.testsuite.transport.socket.SocketAddressesTest;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Netty's test of addresses, which is abstract. */
class AddressesTest extends SocketAddressesTest {
    @Override
    protected void assertAddress(SocketAddress address) {
        assertThat(((InetSocketAddress) address).getPort()).isPositive();
    }
}
