package io.millrace.net;

import io.millrace.sys.posix.PeerIdentity;

/**
 * Who is at the other end of a Unix socket, as the kernel says: {@link UnixStream#peer()}.
 *
 * @param pid the process that connected; seen from the one that connected, the process that began to listen; −1 where
 *     the system does not say
 * @param uid its effective user at that moment
 * @param gid its effective group
 */
public record UnixPeer(long pid, int uid, int gid) {
    private static final int ROOT = 0;

    /**
     * Returns whether it may be trusted with what is this user's.
     *
     * @return true if it runs as the same user as this process, or as root
     */
    public boolean isSameUserOrRoot() {
        return uid == ROOT || uid == PeerIdentity.ownUser();
    }
}
