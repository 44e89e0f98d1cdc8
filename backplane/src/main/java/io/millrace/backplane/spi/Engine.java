package io.millrace.backplane.spi;

import io.millrace.backplane.Position;
import java.util.concurrent.CompletableFuture;

/**
 * Logs of records, one for each topic, in something that several nodes can reach.
 *
 * <p><b>A log</b> gives each record the next offset of its epoch. It keeps at least {@link EngineSettings#history}
 * records and drops older ones from its beginning. A log that was lost or may have lost its end, begins a new epoch: no
 * position is ever given to two different records.
 *
 * <p><b>Connecting.</b> The engine connects by itself, again and again, and tells {@link EngineSettings#listener} when
 * it has, and when the connection is lost. A lost connection ends all following and fails all reading; whoever needs
 * them begins again when told that it is connected.
 *
 * <p><b>Threads.</b> Any thread may call any method. No method blocks. Futures complete on any thread.
 */
public interface Engine extends AutoCloseable {
    /** Begins to connect. Called once, before anything else. */
    void start();

    /**
     * Appends a record. Records that one caller appends to a topic one after the other are stored in this order. While
     * the engine is away they wait; the caller bounds how many. A record whose acknowledgement was lost with a
     * connection is not stored twice: either the engine finds out what became of it, or the future fails with {@link
     * io.millrace.backplane.NotPublishedException.Reason#UNKNOWN}, and it is not tried again.
     *
     * @param topic the log
     * @param record what to append
     * @return its position when the engine has stored it as safely as it is configured to; or a {@link
     *     io.millrace.backplane.NotPublishedException}
     */
    CompletableFuture<Position> append(String topic, Envelope record);

    /**
     * Reads the last records. A log that does not exist is created.
     *
     * @param topic the log
     * @param count how many at most; 0 to learn where the end is
     * @return a complete page
     */
    CompletableFuture<Page> last(String topic, int count);

    /**
     * Reads records behind a position, which may be of an older epoch. A log that does not exist is created.
     *
     * @param topic the log
     * @param after the position
     * @param count how many at most
     * @return the records, fewer than there are if there are too many
     */
    CompletableFuture<Page> read(String topic, Position after, int count);

    /**
     * Follows a log from a position on, which a {@linkplain Page#complete complete} page has had as its end. Replaces an
     * earlier call for this topic.
     *
     * @param topic the log
     * @param after the position
     * @param reader gets what is appended
     */
    void follow(String topic, Position after, LogReader reader);

    /**
     * Stops following. The reader may still be called while this runs.
     *
     * @param topic the log
     */
    void unfollow(String topic);

    /**
     * Deletes a log that nobody needs any more.
     *
     * @param topic the log
     */
    void remove(String topic);

    /** Ends it. What waits for its acknowledgement fails. Does not wait long. */
    @Override
    void close();
}
