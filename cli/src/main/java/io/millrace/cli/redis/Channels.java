package io.millrace.cli.redis;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The subscribers of each channel. Used under the keyspace's lock, so that all subscribers get messages in the order in
 * which they were published.
 */
final class Channels {
    /** Sends the same bytes to several peers. */
    interface Publisher {
        /** Returns how many peers took them. */
        int publish(List<Peer> to, ByteBuffer message);
    }

    /** A subscriber with more than this waiting is disconnected, as in Redis, so that the others are not affected. */
    private static final long MAX_WAITING = 32L << 20;

    private final HashMap<Bytes, LinkedHashSet<Session>> subscribers = new HashMap<>();
    private final Bytes view = Bytes.view();
    private final Publisher publisher;

    Channels(Publisher publisher) {
        this.publisher = publisher;
    }

    int size() {
        return subscribers.size();
    }

    void subscribe(Session session, CommandParser words, Reply reply) {
        for (int i = 1; i < words.count(); i++) {
            Bytes channel =
                    view.at(words.bytes(), words.offset(i), words.length(i)).copy();
            if (session.channels().add(channel)) {
                subscribers
                        .computeIfAbsent(channel, key -> new LinkedHashSet<>())
                        .add(session);
            }
            confirm("subscribe", channel, session, reply);
        }
    }

    void unsubscribe(Session session, CommandParser words, Reply reply) {
        List<Bytes> from = new ArrayList<>();
        for (int i = 1; i < words.count(); i++) {
            from.add(view.at(words.bytes(), words.offset(i), words.length(i)).copy());
        }
        if (words.count() == 1) {
            from.addAll(session.channels());
        }
        for (Bytes channel : from) {
            remove(session, channel);
            confirm("unsubscribe", channel, session, reply);
        }
        if (from.isEmpty()) {
            reply.array(3);
            reply.bulk("unsubscribe");
            reply.nil();
            reply.integer(0);
        }
    }

    private static void confirm(String what, Bytes channel, Session session, Reply reply) {
        reply.array(3);
        reply.bulk(what);
        reply.bulk(channel.array());
        reply.integer(session.subscriptions());
    }

    private void remove(Session session, Bytes channel) {
        if (session.channels().remove(channel)) {
            LinkedHashSet<Session> others = subscribers.get(channel);
            if (others != null) {
                others.remove(session);
                if (others.isEmpty()) {
                    subscribers.remove(channel);
                }
            }
        }
    }

    /** Removes a session that is over. */
    void remove(Session session) {
        List.copyOf(session.channels()).forEach(channel -> remove(session, channel));
    }

    /**
     * Sends a message to all subscribers of a channel and returns how many there are. The message is encoded once, and
     * its bytes are shared.
     */
    int publish(CommandParser words) {
        LinkedHashSet<Session> to = subscribers.get(view.at(words.bytes(), words.offset(1), words.length(1)));
        if (to == null) {
            return 0;
        }
        Reply message = new Reply();
        message.array(3);
        message.bulk("message");
        message.bulk(words.bytes(), words.offset(1), words.length(1));
        message.bulk(words.bytes(), words.offset(2), words.length(2));
        List<Peer> peers = new ArrayList<>(to.size());
        List<Peer> tooSlow = List.of();
        for (Session session : to) {
            Peer peer = session.peer();
            if (peer.queuedBytes() > MAX_WAITING) {
                tooSlow = tooSlow.isEmpty() ? new ArrayList<>() : tooSlow;
                tooSlow.add(peer);
            } else {
                peers.add(peer);
            }
        }
        int told = publisher.publish(peers, message.buffer());
        // Not earlier: it may end the session within this call, which then unsubscribes.
        tooSlow.forEach(Peer::abort);
        return told;
    }
}
