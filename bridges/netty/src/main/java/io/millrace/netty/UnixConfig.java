package io.millrace.netty;

import io.netty.channel.ChannelOption;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configuration of a connection over a Unix socket. */
final class UnixConfig extends SocketConfig {
    private volatile boolean allowHalfClosure;

    UnixConfig(MillraceDomainSocketChannel channel) {
        super(channel, SocketOption.UNIX);
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), ChannelOption.ALLOW_HALF_CLOSURE);
    }

    @Override
    @SuppressWarnings("unchecked") // it is an option of Booleans
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        return option.equals(ChannelOption.ALLOW_HALF_CLOSURE)
                ? (T) Boolean.valueOf(allowHalfClosure)
                : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option.equals(ChannelOption.ALLOW_HALF_CLOSURE)) {
            validate(option, value);
            allowHalfClosure = (Boolean) value;
            return true;
        }
        return super.setOption(option, value);
    }

    boolean isAllowHalfClosure() {
        return allowHalfClosure;
    }
}
