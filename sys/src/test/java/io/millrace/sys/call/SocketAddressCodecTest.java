package io.millrace.sys.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.posix.UnixNames;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bytes of a sockaddr as Linux, macOS and FreeBSD lay them out; port 7000 is 1b58. */
class SocketAddressCodecTest {
    private static final String V4 = "7f000001";
    private static final String V6 = "20010db8000000000000000000000001";

    private final MemorySegment memory = Arena.ofAuto().allocate(64);

    @ParameterizedTest
    @EnumSource(Os.class)
    void anIpv4AddressTakes16Bytes(Os os) {
        String family = os.isBsd() ? "1002" : shorts(2);

        String bytes = encode(os, SocketAddressCodec.INET, InetAddress.ofLiteral("127.0.0.1"));

        assertThat(bytes).isEqualTo(family + "1b58" + V4 + "0000000000000000");
    }

    @ParameterizedTest
    @EnumSource(Os.class)
    void anIpv6AddressTakes28BytesWithItsScope(Os os) throws Exception {
        byte[] raw = HexFormat.of().parseHex(V6);

        String bytes = encode(os, inet6(os), Inet6Address.getByAddress(null, raw, 3));

        assertThat(bytes).isEqualTo(family6(os) + "1b58" + "00000000" + V6 + ints(3));
    }

    @ParameterizedTest
    @EnumSource(Os.class)
    void onAnIpv6SocketAnIpv4AddressIsMappedAndItsWildcardIsThatOfIpv6(Os os) {
        String mapped = encode(os, inet6(os), InetAddress.ofLiteral("127.0.0.1"));
        String wildcard = encode(os, inet6(os), InetAddress.ofLiteral("0.0.0.0"));

        assertThat(mapped).isEqualTo(family6(os) + "1b58" + "00000000" + "00000000000000000000ffff" + V4 + "00000000");
        assertThat(wildcard).isEqualTo(family6(os) + "1b58" + "00000000" + "0".repeat(32) + "00000000");
    }

    @ParameterizedTest
    @EnumSource(Os.class)
    void whatWasWrittenIsReadBack(Os os) {
        SocketAddressCodec codec = SocketAddressCodec.of(os);
        for (String name : new String[] {"127.0.0.1", "255.255.255.255", "::1", "2001:db8::1", "::"}) {
            for (int port : new int[] {0, 1, 7000, 65535}) {
                InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral(name), port);
                codec.encode(address, codec.familyOf(address.getAddress()), memory, 8);

                assertThat(codec.decode(memory, 8)).isEqualTo(address);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Os.class)
    void aMappedAddressIsReadAsIpv4(Os os) {
        SocketAddressCodec codec = SocketAddressCodec.of(os);
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral("10.1.2.3"), 80);
        codec.encode(address, codec.inet6(), memory, 0);

        InetSocketAddress read = codec.decode(memory, 0);

        assertThat(read.getAddress()).isInstanceOf(Inet4Address.class);
        assertThat(read).isEqualTo(address);
    }

    @ParameterizedTest
    @EnumSource(Os.class)
    void aUnixPathEndsInAZeroByteAndAnAbstractNameDoesNot(Os os) {
        SocketAddressCodec codec = SocketAddressCodec.of(os);
        memory.fill((byte) 0x55);
        assertThat(codec.encodeUnix(new byte[] {'/', 'a'}, memory, 4)).isEqualTo(5);
        assertThat(hex(4, 6)).isEqualTo((os.isBsd() ? "0501" : shorts(1)) + "2f6100" + "55");

        assertThat(codec.encodeUnix(UnixNames.ofAbstract("a"), memory, 4)).isEqualTo(4);
        assertThat(hex(4, 4)).isEqualTo((os.isBsd() ? "0401" : shorts(1)) + "0061");
    }

    @Test
    void aRelativePathStaysRelative() {
        assertThat(UnixNames.ofPath(Path.of("a/b"))).containsExactly('a', '/', 'b');
        assertThat(UnixNames.ofPath(Path.of("/a b"))).containsExactly('/', 'a', ' ', 'b');
        assertThat(UnixNames.fits(new byte[UnixNames.MAX_BYTES + 2])).isFalse();
        assertThat(UnixNames.fits(new byte[0])).isFalse();
    }

    @Test
    void anotherFamilyIsRefused() {
        memory.set(ValueLayout.JAVA_SHORT, 0, (short) 1);

        assertThatThrownBy(() -> SocketAddressCodec.of(Os.LINUX).decode(memory, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("family 1");
    }

    private String encode(Os os, int family, InetAddress address) {
        memory.fill((byte) 0x55);
        int length = SocketAddressCodec.of(os).encode(new InetSocketAddress(address, 7000), family, memory, 4);
        return HexFormat.of().formatHex(memory.asSlice(4, length).toArray(ValueLayout.JAVA_BYTE));
    }

    private String hex(long at, long count) {
        return HexFormat.of().formatHex(memory.asSlice(at, count).toArray(ValueLayout.JAVA_BYTE));
    }

    private static int inet6(Os os) {
        return SocketAddressCodec.of(os).inet6();
    }

    private static String family6(Os os) {
        return switch (os) {
            case LINUX, OTHER -> shorts(10);
            case MACOS -> "1c1e";
            case FREEBSD -> "1c1c";
        };
    }

    private static String shorts(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                ? "%02x00".formatted(value)
                : "00%02x".formatted(value);
    }

    private static String ints(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                ? "%02x000000".formatted(value)
                : "000000%02x".formatted(value);
    }
}
