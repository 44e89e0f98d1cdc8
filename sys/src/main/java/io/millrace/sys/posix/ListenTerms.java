package io.millrace.sys.posix;

import java.util.Map;

/**
 * The settings of a TCP listener. The numbers are checked.
 *
 * @param backlog how many connections may wait to be accepted
 * @param reusePort whether other sockets that set this, too, may listen on the same port
 * @param receiveBuffer the size for each accepted connection, or 0 for the system's default
 * @param fastOpen how many connections may wait whose first packet brought bytes, or 0 for none
 * @param accepted the other settings of accepted connections, set in this order
 */
public record ListenTerms(
        int backlog, boolean reusePort, int receiveBuffer, int fastOpen, Map<SocketSetting, Integer> accepted) {}
