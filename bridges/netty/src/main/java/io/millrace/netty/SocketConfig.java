package io.millrace.netty;

import io.millrace.sys.posix.SocketSetting;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configuration of a channel: Netty's part, and the options of the socket by a table. Any thread. */
class SocketConfig extends DefaultChannelConfig {
    private final MillraceChannel owner;
    private final Map<ChannelOption<?>, SocketOption> table;

    SocketConfig(MillraceChannel owner, Map<ChannelOption<?>, SocketOption> table) {
        super(owner);
        this.owner = owner;
        this.table = table;
    }

    SocketConfig(MillraceChannel owner, Map<ChannelOption<?>, SocketOption> table, RecvByteBufAllocator sizes) {
        super(owner, sizes);
        this.owner = owner;
        this.table = table;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), table.keySet().toArray(ChannelOption<?>[]::new));
    }

    @Override
    @SuppressWarnings("unchecked") // the table knows the type of each option's value
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        SocketOption known = table.get(option);
        if (known == null) {
            return super.getOption(option);
        }
        return known.isSwitch()
                ? (T) Boolean.valueOf(isOn(known.setting()))
                : (T) Integer.valueOf(number(known.setting()));
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        SocketOption known = table.get(option);
        if (known == null) {
            return super.setOption(option, value);
        }
        validate(option, value);
        set(known.setting(), value instanceof Boolean on ? (on ? 1 : 0) : (Integer) value);
        return true;
    }

    final boolean isOn(SocketSetting setting) {
        return number(setting) != 0;
    }

    final int number(SocketSetting setting) {
        try {
            int fd = owner.use();
            try {
                return setting.get(fd);
            } finally {
                owner.descriptor.release();
            }
        } catch (IOException e) {
            throw new ChannelException(e);
        }
    }

    final void set(SocketSetting setting, int value) {
        if (value < 0 && (setting == SocketSetting.SEND_BUFFER || setting == SocketSetting.RECEIVE_BUFFER)) {
            // The kernel would take it for the largest number there is.
            throw new IllegalArgumentException("the size of a buffer must not be negative: " + value);
        }
        try {
            int fd = owner.use();
            try {
                setting.set(fd, value);
            } finally {
                owner.descriptor.release();
            }
        } catch (IOException e) {
            throw new ChannelException(e);
        }
    }

    @Override
    protected void autoReadCleared() {
        owner.clearReadPending();
    }
}
