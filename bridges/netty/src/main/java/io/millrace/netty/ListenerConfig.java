package io.millrace.netty;

import io.millrace.sys.posix.SocketSetting;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configuration of a listener, TCP or Unix. */
final class ListenerConfig extends SocketConfig implements ServerSocketChannelConfig {
    private volatile int backlog = NetUtil.SOMAXCONN;

    ListenerConfig(ListenerChannel channel, Map<ChannelOption<?>, SocketOption> table) {
        super(channel, table, new ServerChannelRecvByteBufAllocator());
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), ChannelOption.SO_BACKLOG);
    }

    @Override
    @SuppressWarnings("unchecked") // it is an option of Integers
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        return option.equals(ChannelOption.SO_BACKLOG) ? (T) Integer.valueOf(backlog) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option.equals(ChannelOption.SO_BACKLOG)) {
            validate(option, value);
            setBacklog((Integer) value);
            return true;
        }
        return super.setOption(option, value);
    }

    @Override
    public int getBacklog() {
        return backlog;
    }

    @Override
    public ListenerConfig setBacklog(int value) {
        if (value < 0) {
            throw new IllegalArgumentException("a backlog must not be negative: " + value);
        }
        backlog = value;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return number(SocketSetting.RECEIVE_BUFFER);
    }

    @Override
    public ListenerConfig setReceiveBufferSize(int value) {
        set(SocketSetting.RECEIVE_BUFFER, value);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return isOn(SocketSetting.REUSE_ADDRESS);
    }

    @Override
    public ListenerConfig setReuseAddress(boolean value) {
        set(SocketSetting.REUSE_ADDRESS, value ? 1 : 0);
        return this;
    }

    /** Has no effect, as in the JDK. */
    @Override
    public ListenerConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public ListenerConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public ListenerConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public ListenerConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public ListenerConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public ListenerConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public ListenerConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public ListenerConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public ListenerConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public ListenerConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public ListenerConfig setWriteBufferHighWaterMark(int writeBufferHighWaterMark) {
        super.setWriteBufferHighWaterMark(writeBufferHighWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public ListenerConfig setWriteBufferLowWaterMark(int writeBufferLowWaterMark) {
        super.setWriteBufferLowWaterMark(writeBufferLowWaterMark);
        return this;
    }
}
