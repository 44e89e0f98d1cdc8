package io.millrace.server;

import io.millrace.net.Resolver;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** Addresses of the loopback network with and without somebody behind them, all on one port; and a resolver that knows them. */
public final class Addresses {
    private Addresses() {}

    public static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * A port where nobody listens, and which the system gives to nobody else while this is open: bound, but not listening. A listener that asks for this very port gets it, because both set SO_REUSEADDR.
     */
    static SocketChannel heldPort(String address) throws IOException {
        return SocketChannel.open()
                .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                .bind(new InetSocketAddress(address(address), 0));
    }

    /** Every host has these. */
    static Resolver resolver(String... texts) {
        List<InetAddress> all = new ArrayList<>();
        for (String text : texts) {
            all.add(address(text));
        }
        return Resolver.over(name -> all);
    }

    /** Returns a port that is free at two addresses: one that is free at the first may be taken at the second. */
    static int portFreeAt(String one, String other) throws IOException {
        BindException taken = null;
        for (int i = 0; i < 20; i++) {
            try (ServerSocket first = new ServerSocket(0, 1, address(one));
                    ServerSocket second = new ServerSocket(first.getLocalPort(), 1, address(other))) {
                return second.getLocalPort();
            } catch (BindException e) {
                taken = e;
            }
        }
        throw new AssertionError("no port is free at both " + one + " and " + other, taken);
    }

    /** Does not answer: as many wait there as may, and nobody accepts. */
    static final class BlackHole implements AutoCloseable {
        private static final int MORE_THAN_WAIT = 8;

        private final ServerSocket listener;
        private final List<SocketChannel> waiting = new ArrayList<>();
        private final List<Socket> accepted = new ArrayList<>();

        BlackHole(String address, int port) throws IOException {
            listener = new ServerSocket(port, 1, Addresses.address(address));
            for (int i = 0; i < MORE_THAN_WAIT; i++) {
                SocketChannel channel = SocketChannel.open();
                waiting.add(channel);
                channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .configureBlocking(false);
                channel.connect(where());
            }
        }

        InetSocketAddress where() {
            return (InetSocketAddress) listener.getLocalSocketAddress();
        }

        int port() {
            return listener.getLocalPort();
        }

        /** Lets the next one in that comes from elsewhere than those that wait. */
        InetSocketAddress acceptNew() throws IOException {
            List<Integer> ours = new ArrayList<>();
            for (SocketChannel channel : waiting) {
                if (!channel.finishConnect()) {
                    channel.close(); // else it would try again, too, and take the place of the new one
                    continue;
                }
                ours.add(((InetSocketAddress) channel.getLocalAddress()).getPort());
            }
            listener.setSoTimeout(20_000);
            for (; ; ) {
                Socket next = listener.accept();
                accepted.add(next);
                if (!ours.contains(next.getPort())) {
                    return (InetSocketAddress) next.getRemoteSocketAddress();
                }
            }
        }

        @Override
        public void close() throws IOException {
            for (SocketChannel channel : waiting) {
                channel.close();
            }
            for (Socket socket : accepted) {
                socket.close();
            }
            listener.close();
        }
    }
}
