package io.millrace.netty;

import io.millrace.sys.posix.SocketSetting;
import io.netty.channel.ChannelOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A channel option that is an option of the socket.
 *
 * @param option as users name it
 * @param setting as the kernel does
 * @param isSwitch whether its value is a {@code Boolean}; else it is an {@code Integer}
 */
record SocketOption(ChannelOption<?> option, SocketSetting setting, boolean isSwitch) {
    private static final SocketOption[] OF_ALL = {
        number(ChannelOption.SO_RCVBUF, SocketSetting.RECEIVE_BUFFER),
        number(ChannelOption.SO_SNDBUF, SocketSetting.SEND_BUFFER),
    };
    private static final SocketOption[] OF_INTERNET = {
        toggle(ChannelOption.SO_REUSEADDR, SocketSetting.REUSE_ADDRESS),
        toggle(MillraceChannelOption.SO_REUSEPORT, SocketSetting.REUSE_PORT),
        number(ChannelOption.IP_TOS, SocketSetting.TRAFFIC_CLASS),
    };
    private static final SocketOption[] OF_TCP = {
        toggle(ChannelOption.TCP_NODELAY, SocketSetting.NO_DELAY),
        toggle(ChannelOption.SO_KEEPALIVE, SocketSetting.KEEP_ALIVE),
        number(ChannelOption.SO_LINGER, SocketSetting.LINGER),
        number(MillraceChannelOption.TCP_KEEPIDLE, SocketSetting.KEEP_IDLE),
        number(MillraceChannelOption.TCP_KEEPINTVL, SocketSetting.KEEP_INTERVAL),
        number(MillraceChannelOption.TCP_KEEPCNT, SocketSetting.KEEP_COUNT),
    };
    private static final SocketOption[] OF_LISTENERS = {
        number(ChannelOption.TCP_FASTOPEN, SocketSetting.FAST_OPEN),
    };
    private static final SocketOption[] OF_UDP = {
        toggle(ChannelOption.SO_BROADCAST, SocketSetting.BROADCAST),
    };

    static final Map<ChannelOption<?>, SocketOption> TCP = table(OF_ALL, OF_INTERNET, OF_TCP);
    static final Map<ChannelOption<?>, SocketOption> TCP_LISTENER = table(OF_ALL, OF_INTERNET, OF_LISTENERS);
    static final Map<ChannelOption<?>, SocketOption> UDP = table(OF_ALL, OF_INTERNET, OF_UDP);
    static final Map<ChannelOption<?>, SocketOption> UNIX = table(OF_ALL);

    private static SocketOption number(ChannelOption<Integer> option, SocketSetting setting) {
        return new SocketOption(option, setting, false);
    }

    private static SocketOption toggle(ChannelOption<Boolean> option, SocketSetting setting) {
        return new SocketOption(option, setting, true);
    }

    private static Map<ChannelOption<?>, SocketOption> table(SocketOption[]... parts) {
        Map<ChannelOption<?>, SocketOption> table = new LinkedHashMap<>();
        for (SocketOption[] part : parts) {
            for (SocketOption each : part) {
                table.put(each.option, each);
            }
        }
        return table;
    }
}
