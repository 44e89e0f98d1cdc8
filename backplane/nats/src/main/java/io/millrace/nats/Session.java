package io.millrace.nats;

import io.millrace.backplane.Position;
import io.millrace.backplane.spi.LogReader;
import io.millrace.backplane.spi.Page;
import io.millrace.backplane.spi.StoredRecord;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.MessageHandler;
import io.nats.client.PullSubscribeOptions;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.ServerInfo;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One connection to a server, from when it stands until it is lost. Every topic is a stream of its own: then the numbers
 * of its messages have no holes. Its epoch is when the stream was made and, of a server that is not in a cluster, which
 * run of the server this is: the last messages of an older run may not have reached the disk, and their numbers would be
 * given again.
 *
 * <p>What is here waits for answers, and is called on one thread of the engine's; {@link Publisher} does not wait.
 */
final class Session {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration HEARTBEAT = Duration.ofSeconds(1);
    private static final int NO_SUCH_STREAM = 10059;
    private static final int LENGTH_OF_RUN = 12;

    final Connection connection;
    final JetStream streams;
    private final JetStreamManagement management;
    private final Dispatcher dispatcher;
    private final String run;
    private final int history;
    private final Map<String, Followed> followed = new HashMap<>();

    private record Followed(JetStreamSubscription consumer, LogReader reader) {}

    /** Asks whether there is JetStream: a server without it would answer, and take nothing. */
    static Session begin(Connection connection, int history) throws IOException {
        Session session = new Session(connection, history);
        try {
            session.management.getAccountStatistics();
        } catch (JetStreamApiException | IOException e) {
            throw new IOException("the server has no JetStream for this account; start it with nats-server -js", e);
        }
        return session;
    }

    private Session(Connection connection, int history) throws IOException {
        this.connection = connection;
        this.streams = connection.jetStream();
        this.management = connection.jetStreamManagement();
        this.dispatcher = connection.createDispatcher();
        ServerInfo server = connection.getServerInfo();
        String id = server.getServerId();
        this.run = server.getCluster() == null ? id.substring(Math.max(0, id.length() - LENGTH_OF_RUN)) : "cluster";
        this.history = history;
    }

    // ---- Streams ----

    /** Returns what the server says about a stream, which exists then. */
    private StreamInfo open(String stream) throws IOException, JetStreamApiException {
        try {
            return management.getStreamInfo(stream);
        } catch (JetStreamApiException e) {
            if (e.getApiErrorCode() != NO_SUCH_STREAM) {
                throw e;
            }
            return management.addStream(StreamConfiguration.builder()
                    .name(stream)
                    .subjects(stream)
                    .storageType(StorageType.File)
                    .discardPolicy(DiscardPolicy.Old)
                    .maxMessages(history)
                    .build());
        }
    }

    private String epoch(StreamInfo info) {
        return info.getCreateTime().toInstant().toEpochMilli() + "." + run;
    }

    /** Returns the end of a stream, which exists then. */
    Position end(String stream) throws IOException, JetStreamApiException {
        StreamInfo info = open(stream);
        return new Position(epoch(info), info.getStreamState().getLastSequence());
    }

    void delete(String stream) throws IOException, JetStreamApiException {
        management.deleteStream(stream);
    }

    // ---- Reading ----

    Page last(String stream, int count) throws IOException, JetStreamApiException, InterruptedException {
        StreamInfo info = open(stream);
        long last = info.getStreamState().getLastSequence();
        long first = Math.max(info.getStreamState().getFirstSequence(), last - count + 1);
        List<StoredRecord> records = fetch(stream, epoch(info), Math.max(1, first), last);
        Position end = records.isEmpty()
                ? new Position(epoch(info), last)
                : records.getLast().position();
        Position start = records.isEmpty()
                ? end
                : new Position(epoch(info), records.getFirst().position().offset() - 1);
        return new Page(start, records, end, true);
    }

    Page read(String stream, Position after, int count)
            throws IOException, JetStreamApiException, InterruptedException {
        StreamInfo info = open(stream);
        String epoch = epoch(info);
        long last = info.getStreamState().getLastSequence();
        Position start = start(info, epoch, after);
        long from = Math.max(start.offset() + 1, info.getStreamState().getFirstSequence());
        long to = Math.min(last, from + count - 1);
        List<StoredRecord> records = fetch(stream, epoch, from, to);
        if (to < last && !records.isEmpty()) {
            return new Page(start, records, records.getLast().position(), false);
        }
        long end = records.isEmpty()
                ? last
                : Math.max(last, records.getLast().position().offset());
        return new Page(start, records, new Position(epoch, end), true);
    }

    /** Where a subscriber goes on that was at a position of this or an older run, or of a stream that is lost. */
    private static Position start(StreamInfo info, String epoch, Position after) {
        long last = info.getStreamState().getLastSequence();
        String made = epoch.substring(0, epoch.indexOf('.') + 1);
        if (after.epoch().startsWith(made)) {
            return new Position(epoch, Math.min(after.offset(), last));
        }
        long first = info.getStreamState().getFirstSequence();
        return new Position(epoch, first == 0 ? last : Math.min(last, first - 1));
    }

    private List<StoredRecord> fetch(String stream, String epoch, long from, long to)
            throws IOException, JetStreamApiException, InterruptedException {
        List<StoredRecord> records = new ArrayList<>();
        if (from > to) {
            return records;
        }
        JetStreamSubscription consumer = streams.subscribe(
                stream,
                PullSubscribeOptions.builder().stream(stream)
                        .configuration(consumer(from).build())
                        .build());
        try {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            for (long next = from; next <= to && System.nanoTime() - deadline < 0; ) {
                int before = records.size();
                for (Message message : consumer.fetch(Math.toIntExact(Math.min(256, to - next + 1)), PATIENCE)) {
                    long number = message.metaData().streamSequence();
                    records.add(new StoredRecord(new Position(epoch, number), message.getData()));
                    next = number + 1;
                }
                if (records.size() == before) {
                    throw new IOException("the server has not sent the messages of " + stream + " from " + next);
                }
            }
        } finally {
            consumer.unsubscribe();
        }
        return records;
    }

    private static ConsumerConfiguration.Builder consumer(long from) {
        return ConsumerConfiguration.builder()
                .deliverPolicy(DeliverPolicy.ByStartSequence)
                .startSequence(from)
                .ackPolicy(AckPolicy.None);
    }

    void follow(String stream, Position after, LogReader reader) throws IOException, JetStreamApiException {
        unfollow(stream);
        JetStreamSubscription consumer = streams.subscribe(
                stream,
                dispatcher,
                new Tail(after, reader),
                false,
                PushSubscribeOptions.builder().stream(stream)
                        .configuration(consumer(after.offset() + 1)
                                .idleHeartbeat(HEARTBEAT)
                                .build())
                        .build());
        followed.put(stream, new Followed(consumer, reader));
    }

    /** Passes on what has no holes. Behind one, the reader reads again: the client may have missed some, or it was trimmed. */
    private static final class Tail implements MessageHandler {
        private final String epoch;
        private final LogReader reader;
        private long at;

        Tail(Position after, LogReader reader) {
            this.epoch = after.epoch();
            this.reader = reader;
            this.at = after.offset();
        }

        @Override
        public void onMessage(Message message) {
            long number = message.metaData().streamSequence();
            if (number == at + 1) {
                at = number;
                reader.onRecords(List.of(new StoredRecord(new Position(epoch, number), message.getData())));
            } else if (number > at) {
                at = Long.MAX_VALUE; // nothing more of this consumer
                reader.onBroken();
            }
        }
    }

    void unfollow(String stream) {
        Followed one = followed.remove(stream);
        if (one != null && one.consumer.isActive()) {
            dispatcher.unsubscribe(one.consumer);
        }
    }

    /** A consumer has fallen silent: its stream may be gone. */
    @SuppressWarnings("ReferenceEquality") // identity is intended
    void broken(JetStreamSubscription consumer) {
        for (Followed one : List.copyOf(followed.values())) {
            if (one.consumer == consumer) {
                one.reader.onBroken();
            }
        }
    }

    void close() throws InterruptedException {
        connection.close();
    }
}
