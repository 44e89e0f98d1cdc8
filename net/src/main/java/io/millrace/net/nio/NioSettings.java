package io.millrace.net.nio;

import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import jdk.net.ExtendedSocketOptions;

/** The options of a {@code java.nio} channel. NIO itself checks whether the channel is open. */
final class NioSettings {
    private NioSettings() {}

    static int get(NetworkChannel channel, SocketSetting setting) throws IOException {
        Object value = channel.getOption(option(channel, setting));
        return value instanceof Boolean on ? (on ? 1 : 0) : (Integer) value;
    }

    @SuppressWarnings("unchecked") // the type of the option
    static void set(NetworkChannel channel, SocketSetting setting, int value) throws IOException {
        SocketOption<?> option = option(channel, setting);
        if (option.type() == Boolean.class) {
            channel.setOption((SocketOption<Boolean>) option, value != 0);
        } else {
            channel.setOption((SocketOption<Integer>) option, value);
        }
    }

    private static SocketOption<?> option(NetworkChannel channel, SocketSetting setting) {
        SocketOption<?> option = switch (setting) {
            case REUSE_PORT -> StandardSocketOptions.SO_REUSEPORT;
            case REUSE_ADDRESS -> StandardSocketOptions.SO_REUSEADDR;
            case BROADCAST -> StandardSocketOptions.SO_BROADCAST;
            case SEND_BUFFER -> StandardSocketOptions.SO_SNDBUF;
            case RECEIVE_BUFFER -> StandardSocketOptions.SO_RCVBUF;
            case KEEP_ALIVE -> StandardSocketOptions.SO_KEEPALIVE;
            case LINGER -> StandardSocketOptions.SO_LINGER;
            case NO_DELAY -> StandardSocketOptions.TCP_NODELAY;
            case KEEP_IDLE -> ExtendedSocketOptions.TCP_KEEPIDLE;
            case KEEP_INTERVAL -> ExtendedSocketOptions.TCP_KEEPINTERVAL;
            case KEEP_COUNT -> ExtendedSocketOptions.TCP_KEEPCOUNT;
            case TRAFFIC_CLASS -> StandardSocketOptions.IP_TOS;
            case ERROR, IPV6_ONLY, FAST_OPEN, TYPE_OF_SERVICE ->
                throw new AssertionError("never asked of a channel: " + setting);
        };
        if (!channel.supportedOptions().contains(option)) {
            throw unsupported(option.name(), channel);
        }
        return option;
    }

    static UnsupportedOperationException unsupported(String option, Object of) {
        return new UnsupportedOperationException("java.nio has no " + option + " for " + of
                + " on this system; leave it as it is, or use a native backend where there is one");
    }
}
