package io.millrace.netty;

import io.millrace.sys.posix.Multicast;
import io.millrace.sys.posix.SocketSetting;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.DatagramChannelConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Enumeration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configuration of a UDP channel. */
final class DatagramConfig extends SocketConfig implements DatagramChannelConfig {
    private static final int PACKET_BYTES = 2048;

    private final MillraceDatagramChannel udp;
    private volatile boolean activeOnRegistration;
    private volatile @Nullable NetworkInterface outgoing;

    DatagramConfig(MillraceDatagramChannel channel) {
        super(channel, SocketOption.UDP, new FixedRecvByteBufAllocator(PACKET_BYTES));
        this.udp = channel;
    }

    @Override
    @SuppressWarnings("deprecation") // the option is, and works
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(
                super.getOptions(),
                ChannelOption.IP_MULTICAST_LOOP_DISABLED,
                ChannelOption.IP_MULTICAST_ADDR,
                ChannelOption.IP_MULTICAST_IF,
                ChannelOption.IP_MULTICAST_TTL,
                ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION);
    }

    @Override
    @SuppressWarnings({"unchecked", "deprecation"}) // each option is compared with the one of that type
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        if (option.equals(ChannelOption.IP_MULTICAST_LOOP_DISABLED)) {
            return (T) Boolean.valueOf(isLoopbackModeDisabled());
        }
        if (option.equals(ChannelOption.IP_MULTICAST_ADDR)) {
            return (T) getInterface();
        }
        if (option.equals(ChannelOption.IP_MULTICAST_IF)) {
            return (T) getNetworkInterface();
        }
        if (option.equals(ChannelOption.IP_MULTICAST_TTL)) {
            return (T) Integer.valueOf(getTimeToLive());
        }
        if (option.equals(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION)) {
            return (T) Boolean.valueOf(activeOnRegistration);
        }
        return super.getOption(option);
    }

    @Override
    @SuppressWarnings("deprecation") // the option is, and works
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option.equals(ChannelOption.IP_MULTICAST_LOOP_DISABLED)) {
            setLoopbackModeDisabled((Boolean) value);
        } else if (option.equals(ChannelOption.IP_MULTICAST_ADDR)) {
            setInterface((InetAddress) value);
        } else if (option.equals(ChannelOption.IP_MULTICAST_IF)) {
            setNetworkInterface((NetworkInterface) value);
        } else if (option.equals(ChannelOption.IP_MULTICAST_TTL)) {
            setTimeToLive((Integer) value);
        } else if (option.equals(ChannelOption.DATAGRAM_CHANNEL_ACTIVE_ON_REGISTRATION)) {
            if (channel.isRegistered()) {
                throw new IllegalStateException("the channel is registered; set " + option + " before");
            }
            activeOnRegistration = (Boolean) value;
        } else {
            return super.setOption(option, value);
        }
        return true;
    }

    boolean isActiveOnRegistration() {
        return activeOnRegistration;
    }

    // ---- Multicast ----

    private interface MulticastCall {
        int on(int fd) throws IOException;
    }

    private int multicast(MulticastCall call) {
        try {
            int fd = udp.use();
            try {
                return call.on(fd);
            } finally {
                udp.descriptor.release();
            }
        } catch (IOException e) {
            throw new ChannelException(e);
        }
    }

    @Override
    public boolean isLoopbackModeDisabled() {
        return multicast(fd -> Multicast.loop(fd, udp.family())) == 0;
    }

    @Override
    public DatagramConfig setLoopbackModeDisabled(boolean value) {
        multicast(fd -> {
            Multicast.setLoop(fd, udp.family(), value ? 0 : 1);
            return 0;
        });
        return this;
    }

    @Override
    public int getTimeToLive() {
        return multicast(fd -> Multicast.timeToLive(fd, udp.family()));
    }

    @Override
    public DatagramConfig setTimeToLive(int value) {
        multicast(fd -> {
            Multicast.setTimeToLive(fd, udp.family(), value);
            return 0;
        });
        return this;
    }

    @Override
    public @Nullable InetAddress getInterface() {
        NetworkInterface chosen = outgoing;
        if (chosen != null) {
            Enumeration<InetAddress> addresses = chosen.getInetAddresses();
            if (addresses.hasMoreElements()) {
                return addresses.nextElement();
            }
        }
        return null;
    }

    @Override
    public DatagramConfig setInterface(InetAddress address) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            if (found == null) {
                throw new ChannelException("no network interface has the address " + address);
            }
            return setNetworkInterface(found);
        } catch (SocketException e) {
            throw new ChannelException(e);
        }
    }

    @Override
    public @Nullable NetworkInterface getNetworkInterface() {
        return outgoing;
    }

    @Override
    public DatagramConfig setNetworkInterface(NetworkInterface value) {
        multicast(fd -> {
            Multicast.setInterface(fd, udp.family(), value.getIndex());
            return 0;
        });
        outgoing = value;
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return number(SocketSetting.SEND_BUFFER);
    }

    @Override
    public DatagramConfig setSendBufferSize(int value) {
        set(SocketSetting.SEND_BUFFER, value);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return number(SocketSetting.RECEIVE_BUFFER);
    }

    @Override
    public DatagramConfig setReceiveBufferSize(int value) {
        set(SocketSetting.RECEIVE_BUFFER, value);
        return this;
    }

    @Override
    public int getTrafficClass() {
        return number(SocketSetting.TRAFFIC_CLASS);
    }

    @Override
    public DatagramConfig setTrafficClass(int value) {
        set(SocketSetting.TRAFFIC_CLASS, value);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return isOn(SocketSetting.REUSE_ADDRESS);
    }

    @Override
    public DatagramConfig setReuseAddress(boolean value) {
        set(SocketSetting.REUSE_ADDRESS, value ? 1 : 0);
        return this;
    }

    @Override
    public boolean isBroadcast() {
        return isOn(SocketSetting.BROADCAST);
    }

    @Override
    public DatagramConfig setBroadcast(boolean value) {
        set(SocketSetting.BROADCAST, value ? 1 : 0);
        return this;
    }

    @Override
    public DatagramConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    @Deprecated
    public DatagramConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public DatagramConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public DatagramConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public DatagramConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public DatagramConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public DatagramConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public DatagramConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public DatagramConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }
}
