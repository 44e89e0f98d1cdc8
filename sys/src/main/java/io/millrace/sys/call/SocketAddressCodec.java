package io.millrace.sys.call;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Addresses as the kernel's {@code sockaddr_in}, {@code sockaddr_in6} and {@code sockaddr_un}.
 *
 * <pre>
 *              0         2      4                 8                24         28
 * sockaddr_in  | family  | port | IPv4 address    | 8 zero bytes (to 16)
 * sockaddr_in6 | family  | port | flow info       | IPv6 address   | scope id |
 * sockaddr_un  | family  | path, ended by a zero byte; or a zero byte and an abstract name
 * </pre>
 *
 * Port and address are in network order, the rest in the machine's. On the BSDs the first two bytes are the length and the
 * family, a byte each; on Linux they are one short. AF_UNIX is 1 and AF_INET is 2 everywhere, AF_INET6 differs.
 */
public final class SocketAddressCodec {
    public static final int UNIX = 1;
    public static final int INET = 2;
    /** The larger of the two internet structs. */
    public static final int MAX_BYTES = 28;

    private static final int INET_BYTES = 16;
    private static final int INET6_BYTES = 28;
    private static final int UNIX_NAME = 2;
    private static final int PORT = 2;
    private static final int INET_ADDRESS = 4;
    private static final int INET6_ADDRESS = 8;
    private static final int SCOPE_ID = 24;
    private static final int MAPPED_PREFIX = 12;
    private static final ValueLayout.OfShort NETWORK_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final SocketAddressCodec CURRENT = of(Os.current());

    private final boolean beginsWithLength;
    private final int inet6;

    private SocketAddressCodec(boolean beginsWithLength, int inet6) {
        this.beginsWithLength = beginsWithLength;
        this.inet6 = inet6;
    }

    public static SocketAddressCodec current() {
        return CURRENT;
    }

    static SocketAddressCodec of(Os os) {
        return switch (os) {
            case LINUX, OTHER -> new SocketAddressCodec(false, 10);
            case MACOS -> new SocketAddressCodec(true, 30);
            case FREEBSD -> new SocketAddressCodec(true, 28);
        };
    }

    /** Returns this system's AF_INET6. */
    public int inet6() {
        return inet6;
    }

    /** Returns the family of a socket that can reach the address. */
    public int familyOf(InetAddress address) {
        return address instanceof Inet6Address ? inet6 : INET;
    }

    /**
     * Writes a resolved address for a socket of the given family. On an IPv6 socket, an IPv4 address is written as
     * mapped, and the wildcard of either family as {@code ::}.
     *
     * @return the length of the struct
     */
    public int encode(InetSocketAddress address, int family, MemorySegment to, long at) {
        return family == INET ? encodeInet(address, to, at) : encodeInet6(address, to, at);
    }

    private int encodeInet(InetSocketAddress address, MemorySegment to, long at) {
        byte[] bytes = address.getAddress().getAddress();
        to.asSlice(at, INET_BYTES).fill((byte) 0);
        begin(address, INET, INET_BYTES, to, at);
        put(bytes, to, at + INET_ADDRESS);
        return INET_BYTES;
    }

    private int encodeInet6(InetSocketAddress address, MemorySegment to, long at) {
        InetAddress internet = address.getAddress();
        to.asSlice(at, INET6_BYTES).fill((byte) 0);
        begin(address, inet6, INET6_BYTES, to, at);
        if (internet instanceof Inet6Address six) {
            put(six.getAddress(), to, at + INET6_ADDRESS);
            to.set(ValueLayout.JAVA_INT_UNALIGNED, at + SCOPE_ID, six.getScopeId());
        } else if (!internet.isAnyLocalAddress()) {
            to.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + INET6_ADDRESS + MAPPED_PREFIX - 2, (short) -1);
            put(internet.getAddress(), to, at + INET6_ADDRESS + MAPPED_PREFIX);
        }
        return INET6_BYTES;
    }

    /**
     * Writes the name of a Unix socket, which is neither empty nor longer than the struct has room for.
     *
     * @return the length of the struct: without the zero byte behind an abstract name, where it would be part of the name
     */
    public int encodeUnix(byte[] name, MemorySegment to, long at) {
        boolean isAbstract = name[0] == 0;
        int length = UNIX_NAME + name.length + (isAbstract ? 0 : 1);
        to.asSlice(at, UNIX_NAME + name.length + 1L).fill((byte) 0);
        putFamily(UNIX, length, to, at);
        put(name, to, at + UNIX_NAME);
        return length;
    }

    private void begin(InetSocketAddress address, int family, int length, MemorySegment to, long at) {
        putFamily(family, length, to, at);
        to.set(NETWORK_SHORT, at + PORT, (short) address.getPort());
    }

    private void putFamily(int family, int length, MemorySegment to, long at) {
        if (beginsWithLength) {
            to.set(ValueLayout.JAVA_BYTE, at, (byte) length);
            to.set(ValueLayout.JAVA_BYTE, at + 1, (byte) family);
        } else {
            to.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) family);
        }
    }

    /** Returns the family of an address. */
    public int familyAt(MemorySegment from, long at) {
        return beginsWithLength
                ? Byte.toUnsignedInt(from.get(ValueLayout.JAVA_BYTE, at + 1))
                : Short.toUnsignedInt(from.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
    }

    /**
     * Reads the name of a Unix socket.
     *
     * @param length of the struct, as the kernel returned it
     * @return a path without a final zero, or a zero byte and an abstract name; empty if it has none
     */
    public byte[] decodeUnix(MemorySegment from, long at, int length) {
        byte[] name = bytes(from, at + UNIX_NAME, Math.max(length - UNIX_NAME, 0));
        if (name.length == 0 || name[0] == 0) {
            return beginsWithLength ? new byte[0] : name;
        }
        int end = 0;
        while (end < name.length && name[end] != 0) {
            end++;
        }
        return Arrays.copyOf(name, end);
    }

    /** Reads an address; a mapped address is returned as an IPv4 address. */
    public InetSocketAddress decode(MemorySegment from, long at) {
        int family = familyAt(from, at);
        int port = Short.toUnsignedInt(from.get(NETWORK_SHORT, at + PORT));
        try {
            if (family == INET) {
                return new InetSocketAddress(InetAddress.getByAddress(bytes(from, at + INET_ADDRESS, 4)), port);
            }
            if (family == inet6) {
                byte[] bytes = bytes(from, at + INET6_ADDRESS, 16);
                int scope = from.get(ValueLayout.JAVA_INT_UNALIGNED, at + SCOPE_ID);
                return new InetSocketAddress(
                        scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope),
                        port);
            }
        } catch (UnknownHostException e) {
            throw new AssertionError("4 and 16 bytes are the right lengths", e);
        }
        throw new IllegalArgumentException("not an internet address: family " + family);
    }

    private static void put(byte[] bytes, MemorySegment to, long at) {
        MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    private static byte[] bytes(MemorySegment from, long at, int count) {
        byte[] bytes = new byte[count];
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, bytes, 0, count);
        return bytes;
    }
}
