package io.millrace.cli.redis;

import io.millrace.cli.redis.CommandParser.ProtocolError;
import io.millrace.server.SendResult;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * One client: what of its input is left to do, and what it listens to.
 *
 * <p>Bytes that were read are copied once, into memory of the thread, and commands run out of that; only the beginning of a command that is not all there is kept, and
 * grows with what comes, not with what was announced. The replies of one read go out in one send. A client that asks for more than it takes is not served further, and
 * not read, until it has taken that: so it cannot have replies without end made with a few bytes.
 */
final class Session {
    private static final byte[] NONE = {};
    /** With so much to send, first it is sent; and if the connection says that too much waits, nothing more is run until it says that it does not. */
    static final int ENOUGH = 1 << 20;

    /** What a thread needs while it runs commands, and nobody in between. */
    private static final class Scratch {
        private static final ThreadLocal<Scratch> OF_THREAD = ThreadLocal.withInitial(Scratch::new);

        byte[] input = new byte[16 << 10];
        final Reply reply = new Reply();

        static Scratch get() {
            return OF_THREAD.get();
        }

        byte[] input(int size) {
            if (input.length < size) {
                input = new byte[size];
            }
            return input;
        }
    }

    private final Peer peer;
    private final Keyspace keys;
    private final Commands commands;
    private final CommandParser parser = new CommandParser();
    private final CommandLimit limit;
    private Set<Bytes> channels = Set.of();

    /** What was read and not run: from the first byte of a command on. */
    private byte[] kept = NONE;

    private int keptFrom;
    private int keptTo;
    private boolean waiting;
    /** The last run ended because there was much to send. */
    private boolean much;

    private boolean ended;

    Session(Peer peer, Keyspace keys, Commands commands, CommandLimit limit) {
        this.peer = peer;
        this.limit = limit;
        this.keys = keys;
        this.commands = commands;
    }

    long id() {
        return peer.id();
    }

    Peer peer() {
        return peer;
    }

    /** Those it listens to; may be changed. Under the keyspace's lock. */
    Set<Bytes> channels() {
        if (!(channels instanceof LinkedHashSet)) {
            channels = new LinkedHashSet<>();
        }
        return channels;
    }

    int subscriptions() {
        return channels.size();
    }

    /** After the reply to this command there is no other. */
    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }

    /** How many bytes wait for the rest of their command. */
    int keptBytes() {
        return keptTo - keptFrom;
    }

    /** Bytes came. */
    void received(ByteBuffer data) {
        if (ended) {
            return;
        }
        int size = data.remaining();
        if (keptFrom == keptTo && !waiting) {
            byte[] input = Scratch.get().input(size);
            data.get(input, 0, size);
            int done = run(input, 0, size);
            if (done < size && !ended) {
                keep(input, done, size - done);
                watch(true);
            }
        } else {
            room(size);
            data.get(kept, keptTo, size);
            keptTo += size;
            if (!waiting) {
                runKept();
            }
        }
        if (waiting) {
            peer.pauseReads();
        }
    }

    /** What was to be sent is sent. */
    void writable() {
        if (waiting) {
            waiting = false;
            runKept();
            if (!waiting) {
                peer.resumeReads();
            }
        }
    }

    private void runKept() {
        int from = keptFrom;
        keptFrom = run(kept, keptFrom, keptTo);
        boolean progress = keptFrom > from;
        if (keptFrom == keptTo || ended) {
            kept = NONE;
            keptFrom = 0;
            keptTo = 0;
        }
        watch(progress);
    }

    /** Who waits to send its replies is not late with its command. */
    private void watch(boolean isNew) {
        if (keptFrom == keptTo || waiting) {
            limit.finished();
        } else {
            limit.unfinished(keptTo - keptFrom, isNew);
        }
    }

    /** The client is gone. */
    void disconnected() {
        limit.end();
    }

    private void keep(byte[] input, int from, int count) {
        room(count);
        System.arraycopy(input, from, kept, keptTo, count);
        keptTo += count;
    }

    private void room(int more) {
        int count = keptTo - keptFrom;
        if (kept.length - keptTo >= more) {
            return;
        }
        byte[] to = kept;
        if (kept.length - count < more || count > keptFrom) {
            long wanted = Math.max((long) count + more, 2L * count);
            to = new byte[(int) Math.min(wanted, Integer.MAX_VALUE - 8)];
        }
        System.arraycopy(kept, keptFrom, to, 0, count);
        kept = to;
        keptFrom = 0;
        keptTo = count;
    }

    /** Runs the commands that are all there, and sends their replies; returns where the first begins that is not done. */
    private int run(byte[] input, int from, int to) {
        int at = from;
        do {
            at = runSome(input, at, to);
        } while (much && !waiting && !ended);
        if (ended) {
            peer.close();
        }
        return at;
    }

    /** The same until there is much to send, and sends it. */
    private int runSome(byte[] input, int from, int to) {
        Reply reply = Scratch.get().reply;
        reply.clear();
        int at = from;
        keys.lock.lock();
        try {
            while (!ended && reply.size() <= ENOUGH) {
                int size = parser.read(input, at, to);
                if (size == 0) {
                    break;
                }
                if (parser.count() > 0) {
                    commands.execute(this, parser, reply);
                }
                parser.next();
                at += size;
            }
        } catch (ProtocolError e) {
            reply.error("ERR Protocol error: " + e.getMessage());
            ended = true;
        } finally {
            // Sent before anybody else may publish, so that a subscriber hears of its subscription first.
            try {
                much = reply.size() > ENOUGH;
                if (reply.size() > 0) {
                    SendResult result = peer.send(reply.buffer());
                    // One that is closed is not served further either.
                    waiting = much && result != SendResult.QUEUED;
                }
            } finally {
                keys.lock.unlock();
            }
        }
        return at;
    }

    @Override
    public String toString() {
        return "client " + peer + ", " + (keptTo - keptFrom) + " bytes kept, " + channels;
    }
}
