package io.millrace.cli.redis;

import io.millrace.cli.redis.CommandParser.ProtocolError;
import io.millrace.server.SendResult;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * One client: its input that is not yet executed, and its subscriptions.
 *
 * <p>Received bytes are copied once, into memory of the thread, and commands are executed from there. Only the
 * beginning of an incomplete command is kept, in memory that grows with what arrives, not with what was announced. The
 * replies of one read go out in one send. A client that asks for more than it reads is neither served nor read until it
 * has taken its replies; so it cannot cause endless replies with a few bytes.
 */
final class Session {
    private static final byte[] NONE = {};
    /**
     * When this much is to be sent, it is sent first; if the connection says that too much is waiting, no more commands
     * run until that has changed.
     */
    static final int ENOUGH = 1 << 20;

    /** What a thread needs while it runs commands; not used in between. */
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

    /** Bytes that were read but not executed, beginning with the first byte of a command. */
    private byte[] kept = NONE;

    private int keptFrom;
    private int keptTo;
    private boolean waiting;
    /** Whether the last run ended because there was much to send. */
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

    /** Returns the channels that it subscribes to, as a mutable set. Under the keyspace's lock. */
    Set<Bytes> channels() {
        if (!(channels instanceof LinkedHashSet)) {
            channels = new LinkedHashSet<>();
        }
        return channels;
    }

    int subscriptions() {
        return channels.size();
    }

    /** Ends the session after the reply to the current command. */
    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }

    /** Returns how many bytes wait for the rest of their command. */
    int keptBytes() {
        return keptTo - keptFrom;
    }

    /** Called when bytes have arrived. */
    void onData(ByteBuffer data) {
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
            makeRoom(size);
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

    /** Called when the waiting replies have been sent. */
    void onWritable() {
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

    /** A client that waits to be served is not late with its command. */
    private void watch(boolean isNew) {
        if (keptFrom == keptTo || waiting) {
            limit.finish();
        } else {
            limit.startOrContinue(keptTo - keptFrom, isNew);
        }
    }

    /** Called when the client has disconnected. */
    void onDisconnect() {
        limit.end();
    }

    private void keep(byte[] input, int from, int count) {
        makeRoom(count);
        System.arraycopy(input, from, kept, keptTo, count);
        keptTo += count;
    }

    private void makeRoom(int more) {
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

    /**
     * Runs the commands that are complete, and sends their replies. Returns where the first unfinished command begins.
     */
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

    /** Runs commands until there is much to send, and sends it. */
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
            // Sent before another client can publish, so that a subscriber learns of its subscription first.
            try {
                much = reply.size() > ENOUGH;
                if (reply.size() > 0) {
                    SendResult result = peer.send(reply.buffer());
                    // A closed session is not served any further.
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
