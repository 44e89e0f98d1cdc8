package io.millrace.netty;

import io.millrace.sys.posix.SocketSetting;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configuration of a TCP connection. As on Netty's own transports, TCP_NODELAY is on. */
final class TcpConfig extends SocketConfig implements SocketChannelConfig {
    private volatile boolean allowHalfClosure;

    TcpConfig(MillraceSocketChannel channel) {
        super(channel, SocketOption.TCP);
        set(SocketSetting.NO_DELAY, 1);
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

    @Override
    public boolean isAllowHalfClosure() {
        return allowHalfClosure;
    }

    @Override
    public TcpConfig setAllowHalfClosure(boolean value) {
        allowHalfClosure = value;
        return this;
    }

    @Override
    public boolean isTcpNoDelay() {
        return isOn(SocketSetting.NO_DELAY);
    }

    @Override
    public TcpConfig setTcpNoDelay(boolean value) {
        set(SocketSetting.NO_DELAY, value ? 1 : 0);
        return this;
    }

    @Override
    public int getSoLinger() {
        return number(SocketSetting.LINGER);
    }

    @Override
    public TcpConfig setSoLinger(int value) {
        set(SocketSetting.LINGER, value);
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return number(SocketSetting.SEND_BUFFER);
    }

    @Override
    public TcpConfig setSendBufferSize(int value) {
        set(SocketSetting.SEND_BUFFER, value);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return number(SocketSetting.RECEIVE_BUFFER);
    }

    @Override
    public TcpConfig setReceiveBufferSize(int value) {
        set(SocketSetting.RECEIVE_BUFFER, value);
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return isOn(SocketSetting.KEEP_ALIVE);
    }

    @Override
    public TcpConfig setKeepAlive(boolean value) {
        set(SocketSetting.KEEP_ALIVE, value ? 1 : 0);
        return this;
    }

    @Override
    public int getTrafficClass() {
        return number(SocketSetting.TRAFFIC_CLASS);
    }

    @Override
    public TcpConfig setTrafficClass(int value) {
        set(SocketSetting.TRAFFIC_CLASS, value);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return isOn(SocketSetting.REUSE_ADDRESS);
    }

    @Override
    public TcpConfig setReuseAddress(boolean value) {
        set(SocketSetting.REUSE_ADDRESS, value ? 1 : 0);
        return this;
    }

    /** Has no effect, as in the JDK. */
    @Override
    public TcpConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public TcpConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public TcpConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public TcpConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public TcpConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public TcpConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public TcpConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public TcpConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public TcpConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public TcpConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }
}
