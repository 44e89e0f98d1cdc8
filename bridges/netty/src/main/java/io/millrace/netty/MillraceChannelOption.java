package io.millrace.netty;

import io.netty.channel.ChannelOption;

/**
 * Options of Millrace channels that Netty's {@link ChannelOption} does not have.
 *
 * <p>They are the same constants as those of Netty's native transports of these names, so a program that sets {@code
 * UnixChannelOption.SO_REUSEPORT} or {@code EpollChannelOption.TCP_KEEPIDLE} need not be changed.
 */
public final class MillraceChannelOption {
    /** Lets several listeners, or UDP sockets, bind the same port; the kernel distributes what arrives. */
    public static final ChannelOption<Boolean> SO_REUSEPORT =
            ChannelOption.valueOf("io.netty.channel.unix.UnixChannelOption#SO_REUSEPORT");

    /** The seconds of silence after which keep-alive packets are sent, if SO_KEEPALIVE is on. */
    public static final ChannelOption<Integer> TCP_KEEPIDLE =
            ChannelOption.valueOf("io.netty.channel.epoll.EpollChannelOption#TCP_KEEPIDLE");

    /** The seconds between keep-alive packets. */
    public static final ChannelOption<Integer> TCP_KEEPINTVL =
            ChannelOption.valueOf("io.netty.channel.epoll.EpollChannelOption#TCP_KEEPINTVL");

    /** The number of unanswered keep-alive packets after which the connection is dropped. */
    public static final ChannelOption<Integer> TCP_KEEPCNT =
            ChannelOption.valueOf("io.netty.channel.epoll.EpollChannelOption#TCP_KEEPCNT");

    private MillraceChannelOption() {}
}
